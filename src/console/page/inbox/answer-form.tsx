import { useEffect, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { sendAnswer } from '../data/answer.ts';
import type { Answer, Ask } from '../data/answer.ts';
import { announce } from '../data/announce.ts';
import { useCanAnswer } from '../data/queries.ts';
import type { ApprovalScope } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { TextArea } from '../parts/field.tsx';
import { useKeys } from '../shell/shortcuts.ts';

export type AskDetails = Ask & {
  agentName: string;
  subjectId: string;
  toolName: string;
  scopes: readonly ApprovalScope[];
  choices: readonly string[];
};

type Props = {
  ask: AskDetails;
  hasKeys: boolean;
  onAnswered?: (() => void) | undefined;
  /** shows the error of a failed answer; default: the form does */
  onFailed?: ((error: unknown) => void) | undefined;
};

/** Blocks answers until the person had time to read. */
const READ_MS = 300;

function useReadable(id: string): boolean {
  const [readable, setReadable] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setReadable(id), READ_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return readable === id;
}

function useAnswer({ ask, onAnswered, onFailed }: Props) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const isReadable = useReadable(ask.id);
  useEffect(() => setError(undefined), [ask.id]);
  const answer = (value: Answer) => {
    if (!isReadable || isBusy) return;
    setBusy(true);
    setError(undefined);
    const sent = sendAnswer(ask, value);
    onAnswered?.();
    sent
      .then(
        () => announce(t('Answered.')),
        (thrown: unknown) => (onFailed ?? setError)(thrown),
      )
      .finally(() => setBusy(false));
  };
  return { answer, error, isBlocked: !isReadable || isBusy };
}

/** Enter sends, as in the message field. Shift-Enter starts a line; Enter also ends the composition of a character. */
function isSendKey(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing;
}

function DenyForm({ onSend, onCancel }: { onSend: (message: string) => void; onCancel: () => void }) {
  const [message, setMessage] = useState('');
  return (
    <form
      className="deny-form"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(message.trim());
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
    >
      <TextArea
        label={t('Reason, for the agent (optional)')}
        autoFocus
        rows={2}
        maxLength={2000}
        value={message}
        onChange={(event) => setMessage(event.target.value)}
        onKeyDown={(event) => {
          if (!isSendKey(event)) return;
          event.preventDefault();
          onSend(message.trim());
        }}
      />
      <div className="answers">
        <Button onClick={onCancel}>{t('Cancel')}</Button>
        <Button kind="danger" type="submit">
          {t('Deny')}
        </Button>
      </div>
    </form>
  );
}

function Approval(props: Props) {
  const { ask, hasKeys } = props;
  const { answer, error, isBlocked } = useAnswer(props);
  const [mode, setMode] = useState<'buttons' | 'deny' | 'always'>('buttons');
  useEffect(() => setMode('buttons'), [ask.id]);
  const allow = (scope: ApprovalScope) => answer({ result: 'allow', scope });
  const has = (scope: ApprovalScope) => ask.scopes.includes(scope);
  useKeys(
    hasKeys && mode === 'buttons'
      ? {
          a: () => allow('once'),
          ...(has('session') ? { s: () => allow('session') } : {}),
          ...(has('always') ? { A: () => setMode('always') } : {}),
          d: () => setMode('deny'),
        }
      : {},
  );
  const hint = (key: string) => (hasKeys ? key : undefined);
  return (
    <>
      {error === undefined ? null : <ErrorNote error={error} />}
      {mode === 'deny' ? (
        <DenyForm onSend={(message) => answer({ result: 'deny', message })} onCancel={() => setMode('buttons')} />
      ) : (
        <div className="answers">
          <Button kind="primary" hint={hint('a')} disabled={isBlocked} onClick={() => allow('once')}>
            {t('Allow once')}
          </Button>
          {has('session') ? (
            <Button hint={hint('s')} disabled={isBlocked} onClick={() => allow('session')}>
              {t('For this session')}
            </Button>
          ) : null}
          {has('always') ? (
            <Button hint={hint('A')} disabled={isBlocked} onClick={() => setMode('always')}>
              {t('Always')}
            </Button>
          ) : null}
          <Button kind="danger" hint={hint('d')} disabled={isBlocked} onClick={() => setMode('deny')}>
            {t('Deny')}
          </Button>
        </div>
      )}
      {mode === 'always' ? (
        <Confirm
          title={t('Always allow {tool}?', { tool: ask.toolName })}
          text={t('Agent {agent} may then use {tool} for {subject} in every session, whatever the input is.', {
            agent: ask.agentName,
            tool: ask.toolName,
            subject: ask.subjectId,
          })}
          action={t('Always allow')}
          onConfirm={() => allow('always')}
          onClose={() => setMode('buttons')}
        />
      ) : null}
    </>
  );
}

function Question(props: Props) {
  const { ask, hasKeys } = props;
  const { answer, error, isBlocked } = useAnswer(props);
  const [text, setText] = useState('');
  const field = useRef<HTMLFormElement>(null);
  const isTool = ask.type === 'custom_tool';
  useEffect(() => setText(''), [ask.id]);
  const choices = ask.choices.slice(0, 9);
  const keys = choices.map((choice, index) => [String(index + 1), () => answer({ text: choice })] as const);
  useKeys(hasKeys ? { ...Object.fromEntries(keys), a: () => field.current?.querySelector('textarea')?.focus() } : {});
  return (
    <>
      {error === undefined ? null : <ErrorNote error={error} />}
      {choices.length === 0 ? null : (
        <div className="answers answers-list">
          {ask.choices.map((choice, index) => (
            <Button
              key={index}
              disabled={isBlocked}
              hint={hasKeys && index < 9 ? String(index + 1) : undefined}
              onClick={() => answer({ text: choice })}
            >
              {choice}
            </Button>
          ))}
        </div>
      )}
      <form
        ref={field}
        className="deny-form"
        onSubmit={(event) => {
          event.preventDefault();
          answer({ text });
        }}
      >
        <TextArea
          label={isTool ? t('Result of the tool') : t('Your answer')}
          rows={2}
          maxLength={20_000}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (!isSendKey(event)) return;
            event.preventDefault();
            if (text !== '' || isTool) answer({ text });
          }}
        />
        <div className="answers">
          {isTool ? (
            <Button disabled={isBlocked} onClick={() => answer({ text, isError: true })}>
              {t('Send as failed')}
            </Button>
          ) : null}
          <Button kind="primary" type="submit" disabled={isBlocked || (text === '' && !isTool)}>
            {t('Send')}
          </Button>
        </div>
      </form>
    </>
  );
}

/** The form that answers a pending action, or a note for read-only callers. */
export function AnswerForm(props: Props) {
  const canAnswer = useCanAnswer();
  if (!canAnswer) return <p className="meta">{t('Your key may look, not answer: that needs agents:approve.')}</p>;
  return props.ask.type === 'approval' ? <Approval {...props} /> : <Question {...props} />;
}
