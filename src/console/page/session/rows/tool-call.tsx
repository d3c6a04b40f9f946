import { ChevronRight, CircleCheck, CircleDashed, CircleX, LoaderCircle } from 'lucide-react';
import { useState } from 'react';
import { durationOf, isToolResult, permissionOf, textOf } from '../../data/events.ts';
import type { EventEnvelope, ToolResult, ToolUseEvent } from '../../data/events.ts';
import { t } from '../../i18n/t.ts';
import { Clipped } from '../../parts/clipped.tsx';
import { Code } from '../../parts/code.tsx';
import { DiffLines, readPatch } from '../../parts/diff-view.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { MarkedText } from '../../parts/marked-text.tsx';
import { Terminal } from '../../parts/terminal.tsx';
import { formatDuration } from '../../text/format.ts';
import { nameTool, readOutput, summarizeInput } from './tool-summary.ts';

const LIMIT = 200_000;
const CODE_LIMIT = 20_000;

type Props = {
  use: ToolUseEvent;
  result: EventEnvelope | undefined;
  /** its output so far, while it runs */
  output: string | undefined;
  /** whether a result may still arrive */
  isRunning: boolean;
  isOpen: boolean;
  onToggle: () => void;
};
type Tab = 'input' | 'output' | 'raw';

export function Output({ text }: { text: string }) {
  const output = readOutput(text);
  switch (output.kind) {
    case 'terminal':
      return (
        <>
          <Terminal text={output.text} />
          {output.exitCode === undefined ? null : (
            <p className="meta">{t('exit code {code}', { code: output.exitCode })}</p>
          )}
        </>
      );
    case 'diff':
      return <DiffLines lines={readPatch(output.patch)} />;
    case 'json':
      return <JsonView value={output.value} />;
    case 'text':
      return (
        <Clipped text={output.text} limit={LIMIT}>
          {(shown) => <Terminal text={shown} />}
        </Clipped>
      );
  }
}

/** The input of a call: commands and code as text, everything else as a tree. */
export function Input({ input }: { input: unknown }) {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
    const entries = Object.entries(input);
    const [first] = entries;
    if (entries.length === 1 && typeof first?.[1] === 'string') {
      const language = first[0] === 'command' ? 'bash' : first[0] === 'code' ? 'python' : '';
      return (
        <Clipped text={first[1]} limit={CODE_LIMIT}>
          {(shown) => <Code language={language} code={shown} />}
        </Clipped>
      );
    }
  }
  return <JsonView value={input} />;
}

function readResult(result: EventEnvelope | undefined): ToolResult | undefined {
  return result !== undefined && isToolResult(result) ? result.payload : undefined;
}

function Outcome({ outcome, output }: { outcome: ToolResult | undefined; output: string | undefined }) {
  if (outcome !== undefined) return <Output text={textOf(outcome)} />;
  if (output !== undefined) return <Terminal text={output} />;
  return <p className="meta">{t('No result yet.')}</p>;
}

function Body({ use, result, output }: Pick<Props, 'use' | 'result' | 'output'>) {
  const [chosen, setTab] = useState<Tab>();
  // What is printed shows itself; what a reader has chosen stays.
  const tab = chosen ?? (result === undefined && output === undefined ? 'input' : 'output');
  const outcome = readResult(result);
  const tabs: readonly (readonly [Tab, string])[] = [
    ['input', 'Input'],
    ['output', 'Output'],
    ['raw', 'Raw'],
  ];
  return (
    <div className="call-body">
      <div className="tabs" role="group" aria-label={t('Shown part')}>
        {tabs.map(([name, text]) => (
          <button key={name} type="button" aria-pressed={tab === name} onClick={() => setTab(name)}>
            {t(text)}
          </button>
        ))}
      </div>
      {tab === 'input' ? <Input input={use.payload.input} /> : null}
      {tab === 'output' ? <Outcome outcome={outcome} output={output} /> : null}
      {tab === 'raw' ? <JsonView value={result === undefined ? [use] : [use, result]} /> : null}
    </div>
  );
}

type Kind = 'running' | 'failed' | 'ok' | 'open';
const ICONS = { running: LoaderCircle, failed: CircleX, ok: CircleCheck, open: CircleDashed };
const WORDS = { running: 'running', failed: 'failed', ok: 'done', open: 'no result' };

function findKind(outcome: ToolResult | undefined, isRunning: boolean): Kind {
  if (outcome === undefined) return isRunning ? 'running' : 'open';
  return outcome.is_error === true ? 'failed' : 'ok';
}

/** One line per call, with input and output on request. Failed calls are open. */
export function ToolCall({ use, result, output, isRunning, isOpen, onToggle }: Props) {
  const { payload } = use;
  const outcome = readResult(result);
  const kind = findKind(outcome, isRunning);
  const Icon = ICONS[kind];
  const permission = permissionOf(payload);
  const ms = outcome === undefined ? undefined : durationOf(outcome);
  return (
    <div className={`call call-${kind}`}>
      <button type="button" className="call-line" aria-expanded={isOpen} onClick={onToggle}>
        <ChevronRight size={14} aria-hidden="true" className={isOpen ? 'turned' : ''} />
        <Icon size={14} aria-hidden="true" className={`call-icon-${kind}`} />
        <span className="visually-hidden">{t(WORDS[kind])}</span>
        <span className="call-name">
          <MarkedText text={nameTool(payload)} />
        </span>
        <span className="call-summary">
          <MarkedText text={summarizeInput(payload.input)} />
        </span>
        {permission === 'ask' || permission === 'deny' ? <span className="tag">{permission}</span> : null}
        <span className="call-time">{ms === undefined ? '' : formatDuration(ms)}</span>
      </button>
      {isOpen ? <Body use={use} result={result} output={output} /> : null}
    </div>
  );
}
