import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { errorText } from '../../platform/errors.ts';
import { CliError } from '../cli-error.ts';
import { buildContext } from '../context.ts';
import { callServer } from './call.ts';

type Flags = { data?: string; file?: string };

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function readBody({ data, file }: Flags): unknown {
  if (data !== undefined && file !== undefined) throw new CliError('Give either --data or --file.', 2);
  if (data === undefined && file === undefined) return undefined;
  try {
    return JSON.parse(data ?? readFileSync(file === '-' ? 0 : (file ?? ''), 'utf8')) as unknown;
  } catch (error) {
    throw new CliError(`The body is no JSON: ${errorText(error)}`, 2);
  }
}

export function addApiCommand(program: Command): void {
  program
    .command('api <method> [path]')
    .description('any request of the API, for example: capstan api GET /v1/agents')
    .option('--data <json>', 'body')
    .option('--file <path>', 'body from a file; - is standard input')
    .action(async (first: string, second: string | undefined, flags: Flags, command: Command) => {
      const method = second === undefined ? 'GET' : first.toUpperCase();
      const path = second ?? first;
      if (!METHODS.includes(method)) throw new CliError(`The method must be one of ${METHODS.join(', ')}.`, 2);
      if (!path.startsWith('/')) throw new CliError('The path must begin with a slash.', 2);
      const { env } = buildContext(command);
      const body = readBody(flags);
      const response = await callServer(env, { method, path, ...(body === undefined ? {} : { body }) });
      const text = await response.text();
      const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
      process.stdout.write(`${isJson ? JSON.stringify(JSON.parse(text), null, 2) : text}\n`);
    });
}
