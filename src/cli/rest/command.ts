// Tests: test/cli/rest.test.ts
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { confirmLoss } from '../confirm.ts';
import { buildContext, readInteger } from '../context.ts';
import type { Context } from '../context.ts';
import { getAgent } from '../find-agent.ts';
import { cleanText } from '../text.ts';
import { callServer } from './call.ts';
import { showAnswer } from './show.ts';
import type { Column } from './show.ts';

/** An option of a command, and the field of the request that its value goes to. */
export type RestOption = {
  /** as commander takes it, for example `--name <text>` */
  flags: string;
  about: string;
  to: 'query' | 'body';
  /** with dots for inner fields */
  field: string;
  read?: 'integer' | 'number' | 'list';
  required?: true;
};

/** A command that is one request of the API. */
export type RestCommand = {
  /** group, name and arguments, for example `vaults get <vault>` */
  use: string;
  about: string;
  method: string;
  /** `{name}` stands for an argument; `{agent}` takes a name too, `{subject}` is the option `--subject` */
  path: string;
  /** the path where the argument `agent` is not given */
  withoutAgent?: string;
  options?: readonly RestOption[];
  /** arguments that go into the body, with their fields */
  bodyArguments?: Readonly<Record<string, string>>;
  /** arguments that are lists, comma-separated; `-` is an empty one */
  lists?: readonly string[];
  /** parameters where no option says otherwise */
  query?: Readonly<Record<string, string>>;
  /** fields of the body that are always the same */
  body?: Readonly<Record<string, unknown>>;
  columns?: readonly Column[];
  /** the field of the answer that is the list; default: `data` */
  rows?: string;
  /** what to print instead of the answer; `{name}` stands for an argument, `{subject}` for the option */
  done?: string;
  /** the question before something is lost; `{name}` stands for an argument, `{subject}` for the option */
  confirm?: string;
};

/** Text by argument, agents by their id. */
type Values = Readonly<Record<string, string>>;

function fill(text: string, values: Values, encode: (value: string) => string): string {
  return text.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encode(values[name] ?? ''));
}

function setField(body: Record<string, unknown>, field: string, value: unknown): void {
  const [first = '', ...rest] = field.split('.');
  if (rest.length === 0) {
    body[first] = value;
    return;
  }
  const inner = { ...(body[first] as Record<string, unknown> | undefined) };
  setField(inner, rest.join('.'), value);
  body[first] = inner;
}

function readList(text = ''): string[] {
  return text === '-' ? [] : text.split(',').map((item) => item.trim());
}

function readNumber(text: string, flag: string): number {
  if (!/^\d{1,12}(?:\.\d{1,9})?$/.test(text)) throw new CliError(`${flag} must be a number, not ${text}.`, 2);
  return Number(text);
}

function readOption({ read, flags }: RestOption, text: string): unknown {
  if (read === 'integer') return readInteger(text, flags.split(' ', 1)[0] ?? flags);
  if (read === 'number') return readNumber(text, flags.split(' ', 1)[0] ?? flags);
  return read === 'list' ? readList(text) : text;
}

/** The name under which commander keeps the value of an option: `--group-by <x>` is `groupBy`. */
function optionName(flags: string): string {
  const long = /--([\w-]+)/.exec(flags)?.[1] ?? flags;
  return long.replaceAll(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
}

function buildRequest(spec: RestCommand, values: Values, given: Readonly<Record<string, unknown>>) {
  const query = new URLSearchParams(spec.query);
  const body: Record<string, unknown> = { ...spec.body };
  for (const [name, field] of Object.entries(spec.bodyArguments ?? {})) {
    setField(body, field, spec.lists?.includes(name) === true ? readList(values[name]) : values[name]);
  }
  for (const option of spec.options ?? []) {
    const value = given[optionName(option.flags)];
    if (typeof value !== 'string') continue;
    if (option.to === 'query') query.set(option.field, value);
    else setField(body, option.field, readOption(option, value));
  }
  const path = fill(spec.path, values, encodeURIComponent);
  const hasBody = spec.method !== 'GET' && spec.method !== 'DELETE' && Object.keys(body).length > 0;
  return {
    method: spec.method,
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    ...(hasBody ? { body } : {}),
  };
}

async function runCommand(command: RestCommand, given: Values, flags: Record<string, unknown>, context: Context) {
  const path = given['agent'] === undefined ? (command.withoutAgent ?? command.path) : command.path;
  const spec = { ...command, path };
  const values: Record<string, string> = { ...given };
  if (values['agent'] !== undefined) values['agent'] = (await getAgent(context.client, values['agent'])).id;
  if (spec.path.includes('{subject}')) values['subject'] = String(flags['subject']);
  // People read the names that they have typed.
  const named = { ...values, ...given };
  if (spec.confirm !== undefined) {
    const question = fill(spec.confirm, named, (value) => value);
    await confirmLoss(question, { yes: flags['yes'] === true, json: context.json });
  }
  const response = await callServer(context.env, buildRequest(spec, values, flags));
  const answer: unknown = await response.json();
  context.show(answer, () =>
    spec.done === undefined
      ? showAnswer(answer, spec.columns, spec.rows)
      : cleanText(fill(spec.done, named, (value) => value)),
  );
}

/** Adds a command to its group. */
export function addRestCommand(group: Command, spec: RestCommand): void {
  const [, name = '', ...args] = spec.use.split(' ');
  const command = group.command([name, ...args].join(' ')).description(spec.about);
  if (spec.path.includes('{subject}')) {
    command.option('--subject <subject>', 'whom the agent serves; default: your user name', userInfo().username);
  }
  for (const { flags, about, required } of spec.options ?? []) {
    if (required === true) command.requiredOption(flags, about);
    else command.option(flags, about);
  }
  if (spec.confirm !== undefined) command.option('--yes', 'do not ask');
  const names = args.map((argument) => argument.replaceAll(/[<>[\]]/g, ''));
  command.action(async (...parameters: unknown[]) => {
    const given = Object.fromEntries(
      names.flatMap((argument, index) => {
        const value = parameters[index];
        return typeof value === 'string' ? [[argument, value]] : [];
      }),
    );
    await runCommand(spec, given, command.opts(), buildContext(command));
  });
}
