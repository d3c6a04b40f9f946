import { useState } from 'react';
import type { FormEvent } from 'react';
import { buildUrl, request } from '../data/http.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Code } from '../parts/code.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice, TextArea } from '../parts/field.tsx';
import { JsonView } from '../parts/json-view.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { formatDuration } from '../text/format.ts';
import { DIALECTS, buildCall, readAnswer, writeCurl } from './dialects.ts';
import type { Dialect } from './dialects.ts';

export type Model = {
  id: string;
  context_window?: number | null;
  max_output_tokens?: number | null;
  price?: { input?: number | null; output?: number | null } | null;
};

type Answer = { dialect: Dialect; value: Record<string, unknown>; ms: number };

function readDialect(value: string): Dialect {
  return DIALECTS.find(([each]) => each === value)?.[0] ?? 'chat';
}

function AnswerView({ answer: { dialect, value, ms } }: { answer: Answer }) {
  return (
    <div className="model-answer" role="status">
      <Markdown text={readAnswer(dialect, value)} />
      <p className="meta">{formatDuration(ms)}</p>
      <details>
        <summary>{t('The whole answer')}</summary>
        <JsonView value={value} />
      </details>
    </div>
  );
}

type Props = { model: string; models: readonly Model[]; onModel: (model: string) => void; onClose: () => void };

/** One call to a model through the gateway, in each of its dialects. It is counted and paid for like any other. */
export function ModelCall({ model, models, onModel, onClose }: Props) {
  const [dialect, setDialect] = useState<Dialect>('chat');
  const [text, setText] = useState('');
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const { path, body } = buildCall(dialect, model, text);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    setAnswer(undefined);
    const began = performance.now();
    try {
      const value = await request<Record<string, unknown>>('POST', path, { body });
      setAnswer({ dialect, value, ms: performance.now() - began });
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="model-call" aria-label={t('Try a model')}>
      <form className="form" onSubmit={(event) => void send(event)}>
        <div className="filters">
          <Choice label={t('Model')} value={model} options={models.map(({ id }) => [id, id])} onChange={onModel} />
          <Choice
            label={t('Dialect')}
            value={dialect}
            options={DIALECTS.map(([value, name]) => [value, t(name)])}
            onChange={(value) => setDialect(readDialect(value))}
          />
        </div>
        <TextArea
          label={t('Message')}
          value={text}
          onChange={(event) => setText(event.target.value)}
          rows={4}
          maxLength={20_000}
          autoFocus
          required
        />
        <div className="form-foot">
          <Button kind="primary" type="submit" disabled={isBusy || text.trim() === ''}>
            {isBusy ? t('Sending…') : t('Send')}
          </Button>
          <Button onClick={onClose}>{t('Close')}</Button>
        </div>
      </form>
      {error === undefined ? null : <ErrorNote error={error} />}
      {answer === undefined ? null : <AnswerView answer={answer} />}
      <details>
        <summary>{t('Copy as curl')}</summary>
        <Code language="bash" code={writeCurl(buildUrl(path), body)} />
      </details>
    </section>
  );
}
