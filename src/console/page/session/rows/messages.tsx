import { CircleDollarSign, CircleX, User } from 'lucide-react';
import { isOf, textOf } from '../../data/events.ts';
import type { BudgetRef, EventEnvelope, StopReason } from '../../data/events.ts';
import { t } from '../../i18n/t.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { MarkedText } from '../../parts/marked-text.tsx';
import { Terminal } from '../../parts/terminal.tsx';
import { BASE } from '../../data/http.ts';
import { formatBytes } from '../../text/format.ts';
import { formatMoney } from '../../text/money.ts';

type Attachment = { filename: string; mediaType: string; sizeBytes?: number | undefined; href?: string };

const SHOWN_INLINE = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

function Attached({ attachment }: { attachment: Attachment }) {
  const { filename: label, mediaType, sizeBytes, href } = attachment;
  const isOwn = href !== undefined && new URL(href, BASE).origin === new URL(BASE).origin;
  const address = href === undefined ? '' : new URL(href.replace(/^\/+/, ''), BASE).href;
  if (isOwn && SHOWN_INLINE.has(mediaType)) {
    return (
      <img
        className="attachment-image"
        src={address}
        alt={label}
        loading="lazy"
        decoding="async"
        width={320}
        height={200}
      />
    );
  }
  return (
    <span className="chip">
      {isOwn ? (
        <a href={address} download={label}>
          {label}
        </a>
      ) : (
        label
      )}
      {sizeBytes === undefined ? null : ` ${formatBytes(sizeBytes)}`}
    </span>
  );
}

const USER_LABELS: Record<string, string> = { 'user.steer': 'steer', 'user.interrupt': 'interrupt' };

export function UserMessage({ event, subject }: { event: EventEnvelope; subject: string }) {
  const text = textOf(event.payload);
  const attachments: readonly Attachment[] = isOf(event, 'user.message') ? (event.payload.attachments ?? []) : [];
  const label = USER_LABELS[event.type];
  return (
    <div className="user-message">
      <p className="speaker">
        <User size={12} aria-hidden="true" /> {subject}
        {label === undefined ? null : <span className="tag">{t(label)}</span>}
        {event.status === 'queued' ? <span className="tag">{t('queued')}</span> : null}
      </p>
      {text === '' ? null : <Markdown text={text} />}
      {attachments.map((attachment, index) => (
        <Attached key={index} attachment={attachment} />
      ))}
    </div>
  );
}

export function AgentMessage({ text, isStreaming = false }: { text: string; isStreaming?: boolean }) {
  return (
    <div className={isStreaming ? 'agent-message streaming' : 'agent-message'}>
      <Markdown text={text} />
    </div>
  );
}

export function Thinking({ text, isOpen, onToggle }: { text: string; isOpen: boolean; onToggle: () => void }) {
  return (
    <div className="thinking">
      <button type="button" className="thinking-line" aria-expanded={isOpen} onClick={onToggle}>
        {t('thinking')}{' '}
        {isOpen ? (
          ''
        ) : (
          <span className="call-summary">
            <MarkedText text={text.slice(0, 160).replaceAll('\n', ' ')} />
          </span>
        )}
      </button>
      {isOpen ? <Markdown text={text} /> : null}
    </div>
  );
}

/** The stop reason of a turn that did not end normally. */
export function StopNote({ stop }: { stop: StopReason & { type: 'error' } }) {
  return (
    <div className="note note-error">
      <CircleX size={16} aria-hidden="true" />
      <div className="note-body">
        <p>
          <strong>{stop.code}</strong>{' '}
          <span className="meta">
            {stop.retryable
              ? t('The same prompt may succeed later.')
              : t('Sending the prompt again will not help: the cause has to be removed first.')}
          </span>
        </p>
        <Terminal text={stop.message} />
      </div>
    </div>
  );
}

/** A turn that a budget stopped, and how to continue it. */
export function BudgetNote({ budget }: { budget: BudgetRef }) {
  const { scope, id, limitUsd, spentUsd, onReached } = budget;
  return (
    <div className="note note-waiting">
      <CircleDollarSign size={16} aria-hidden="true" />
      <div className="note-body">
        <p>
          <strong>{t('The budget of the {scope} is used up.', { scope: t(scope) })}</strong>{' '}
          {t('{spent} of {limit} spent.', { spent: formatMoney(spentUsd), limit: formatMoney(limitUsd) })}{' '}
          {onReached === 'pause' ? t('The turn goes on by itself once the budget is raised.') : ''}
        </p>
        <p className="meta mono">{id}</p>
      </div>
    </div>
  );
}

/** Events of unknown types, such as those of a newer server: one line, and all details on request. */
export function OtherEvent({
  event,
  isOpen,
  onToggle,
}: {
  event: EventEnvelope;
  isOpen: boolean;
  onToggle: () => void;
}) {
  return (
    <div className="other-event">
      <button type="button" className="other-line" aria-expanded={isOpen} onClick={onToggle}>
        {event.type}
      </button>
      {isOpen ? <JsonView value={event} /> : null}
    </div>
  );
}
