// Tests: test/cli/chat.test.ts
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { PASTE_OFF, PASTE_ON, openPasteStream, restoreBreaks } from './paste.ts';

/** A line, or why there is none: the input is over, or Ctrl-C was pressed. */
export type Line = { text: string } | 'ended' | 'interrupted';

/** Where lines of input come from. */
export type Lines = {
  readonly interactive: boolean;
  /** `fresh`: lines that were pasted before the question was asked are no answer to it. */
  read(prompt: string, options?: { fresh?: boolean }): Promise<Line>;
  close(): void;
};

/**
 * A terminal: editing and a history, only while a line is read; between lines Ctrl-C is a signal as ever. What is pasted
 * is part of the line, however many lines it has.
 */
export function openTerminalLines(input: ReadStream, output: Writable): Lines {
  const keys = openPasteStream();
  const reader = createInterface({ input: keys, output, historySize: 200, terminal: true });
  let closed = false;
  /** lines that came while none was asked for: several of them in one paste */
  let early: string[] = [];
  let answer: ((line: Line) => void) | undefined;
  const rest = () => {
    if (closed) return;
    reader.pause();
    input.unpipe(keys);
    input.pause();
    output.write(PASTE_OFF);
    input.setRawMode(false);
  };
  const end = (line: Line) => {
    const resolve = answer;
    answer = undefined;
    if (resolve === undefined) return;
    if (typeof line === 'string') output.write('\n');
    rest();
    resolve(line);
  };
  reader.on('line', (text) => {
    const said = restoreBreaks(text);
    if (answer === undefined) early.push(said);
    else end({ text: said });
  });
  const clearLine = () => {
    reader.write(null, { ctrl: true, name: 'e' });
    reader.write(null, { ctrl: true, name: 'u' });
  };
  reader.on('SIGINT', () => {
    clearLine();
    end('interrupted');
  });
  reader.once('close', () => {
    closed = true;
    end('ended');
  });
  rest();
  return {
    interactive: true,
    read: (prompt, options = {}) =>
      new Promise((resolve) => {
        if (options.fresh === true) early = [];
        const [text] = early.splice(0, 1);
        if (text !== undefined) {
          output.write(`${prompt}${text}\n`);
          return resolve({ text });
        }
        if (closed) return resolve('ended');
        answer = resolve;
        input.setRawMode(true);
        output.write(PASTE_ON);
        input.pipe(keys, { end: true });
        reader.setPrompt(prompt);
        if (options.fresh === true) clearLine();
        reader.prompt(true);
      }),
    close() {
      rest();
      reader.close();
    },
  };
}

/** A pipe or a file: its lines, as they come. */
export function openPipedLines(input: Readable): Lines {
  const reader = createInterface({ input, terminal: false });
  const lines = reader[Symbol.asyncIterator]();
  return {
    interactive: false,
    async read() {
      const next = await lines.next();
      return next.done === true ? 'ended' : { text: next.value };
    },
    close: () => reader.close(),
  };
}

/** A prompt of one or more lines: a backslash at the end of a line goes on. */
export async function readPrompt(lines: Lines, prompts: { first: string; next: string }): Promise<Line> {
  const read: string[] = [];
  for (;;) {
    const line = await lines.read(read.length === 0 ? prompts.first : prompts.next);
    if (line === 'interrupted' || (line === 'ended' && read.length === 0)) return line;
    if (line === 'ended') return { text: read.join('\n') };
    if (!line.text.endsWith('\\')) return { text: [...read, line.text].join('\n') };
    read.push(line.text.slice(0, -1));
  }
}
