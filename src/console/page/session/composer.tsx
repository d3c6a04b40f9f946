import { Send, Square } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { request } from '../data/http.ts';
import { queries, useCan } from '../data/queries.ts';
import type { Session } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { useKeys } from '../shell/shortcuts.ts';
import { AttachButton, AttachmentChips, useAttachments } from './attachments.tsx';
import type { OutgoingAttachment } from './attachments.tsx';

type Mode = 'send' | 'queue' | 'steer';

/** A draft that survives navigation, signing in and a reload. */
function useDraft(id: string) {
  const key = `capstan.draft.${id}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? '');
  useEffect(() => {
    if (text === '') sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  }, [key, text]);
  return [text, setText] as const;
}

function buildBody(mode: Mode, text: string, attachments: readonly OutgoingAttachment[]) {
  if (mode === 'steer') return { events: [{ type: 'user.steer', message: text }] };
  const more = attachments.length === 0 ? {} : { attachments };
  const events = [{ type: 'user.message', content: [{ type: 'text', text }], ...more }];
  return mode === 'queue' ? { events, delivery: 'when_idle' } : { events };
}

function useSender(session: Session) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const key = useRef({ content: '', id: '' });
  const send = async (body: unknown): Promise<boolean> => {
    const content = JSON.stringify(body);
    // The same text after a failure counts as the same message.
    if (key.current.content !== content) key.current = { content, id: crypto.randomUUID() };
    setBusy(true);
    setError(undefined);
    try {
      const path = `v1/sessions/${encodeURIComponent(session.id)}/events`;
      await request('POST', path, { body, idempotencyKey: key.current.id });
      key.current = { content: '', id: '' };
      void queries.invalidateQueries({ queryKey: ['session', session.id] });
      return true;
    } catch (thrown) {
      setError(thrown);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { send, error, isBusy };
}

function Modes({ mode, onChange }: { mode: Mode; onChange: (mode: Mode) => void }) {
  return (
    <select
      className="composer-mode"
      aria-label={t('How to send')}
      value={mode}
      onChange={(event) => onChange(event.target.value as Mode)}
    >
      <option value="queue">{t('Queue')}</option>
      <option value="steer">{t('Steer')}</option>
    </select>
  );
}

/** Sends prompts: at once while the session is idle; queued or as a steer while it runs. */
export function Composer({ session }: { session: Session }) {
  const [text, setText] = useDraft(session.id);
  const [busyMode, setBusyMode] = useState<Mode>('queue');
  const [isStopping, setStopping] = useState(false);
  const canWrite = useCan('agents:write');
  const { send, error, isBusy } = useSender(session);
  const attachments = useAttachments();
  const isRunning = session.status === 'running' || session.status === 'waiting_on_human';
  const mode: Mode = isRunning ? busyMode : 'send';
  const isArchived = session.status === 'archived';
  useKeys(isRunning && canWrite ? { '.': () => setStopping(true) } : {});
  if (!canWrite || isArchived) {
    return (
      <p className="composer-note meta">{isArchived ? t('This session is archived.') : t('Your key may read only.')}</p>
    );
  }
  const submit = async () => {
    if (text.trim() === '' || (mode === 'steer' && attachments.files.length > 0)) return;
    if (!(await send(buildBody(mode, text, await attachments.encode())))) return;
    // What was typed while the message was on its way stays.
    setText((now) => (now.startsWith(text) ? now.slice(text.length).trimStart() : now));
    attachments.clear();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  return (
    <form
      className="composer"
      {...attachments.receive}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {error === undefined ? null : <ErrorNote error={error} />}
      <AttachmentChips attachments={attachments} />
      {mode === 'steer' && attachments.files.length > 0 ? (
        <p className="error-text">{t('A steer carries no files. Queue the message instead.')}</p>
      ) : null}
      <div className="composer-row">
        <AttachButton attachments={attachments} />
        <textarea
          aria-label={t('Message')}
          placeholder={t('Message. Enter sends, Shift-Enter starts a line.')}
          rows={2}
          maxLength={20_000}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-buttons">
          {isRunning ? <Modes mode={busyMode} onChange={setBusyMode} /> : null}
          <Button kind="primary" type="submit" disabled={isBusy || text.trim() === ''}>
            <Send size={14} aria-hidden="true" /> {t({ send: 'Send', queue: 'Queue', steer: 'Steer' }[mode])}
          </Button>
          {isRunning ? (
            <Button onClick={() => setStopping(true)} hint=".">
              <Square size={14} aria-hidden="true" /> {t('Stop')}
            </Button>
          ) : null}
        </div>
      </div>
      {isStopping ? (
        <Confirm
          title={t('Stop this turn?')}
          text={t('What runs is ended. What the agent has done so far stays.')}
          action={t('Stop')}
          isDanger
          onConfirm={() => void send({ events: [{ type: 'user.interrupt' }] })}
          onClose={() => setStopping(false)}
        />
      ) : null}
    </form>
  );
}
