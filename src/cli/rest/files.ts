import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { buildContext } from '../context.ts';
import { getAgent } from '../find-agent.ts';
import { callServer } from './call.ts';

type Flags = { subject: string };

function withSubject(command: Command): Command {
  return command.option('--subject <subject>', 'whose files; default: your user name', userInfo().username);
}

/** `files get` and `files put`: the two that move bytes. */
export function addTransferCommands(files: Command): void {
  const buildPath = async (command: Command, agent: string, path: string) => {
    const { client } = buildContext(command);
    const { id } = await getAgent(client, agent);
    const { subject } = command.opts<Flags>();
    const query = new URLSearchParams({ path });
    return `/v1/agents/${id}/users/${encodeURIComponent(subject)}/files/content?${query.toString()}`;
  };

  const get = withSubject(files.command('get <agent> <path> [file]'));
  get
    .description('download a file; without FILE to standard output')
    .action(async (agent: string, path: string, file: string | undefined) => {
      const { env } = buildContext(get);
      const target = await buildPath(get, agent, path);
      const response = await callServer(env, { method: 'GET', path: target, isDownload: true });
      const bytes = Buffer.from(await response.arrayBuffer());
      if (file === undefined || file === '-') process.stdout.write(bytes);
      else writeFileSync(file, bytes);
    });

  const put = withSubject(files.command('put <agent> <file> [path]'));
  put
    .description('upload a file; - is standard input')
    .action(async (agent: string, file: string, path: string | undefined) => {
      const context = buildContext(put);
      const target = await buildPath(put, agent, path ?? basename(file));
      const bytes = new Uint8Array(readFileSync(file === '-' ? 0 : file));
      const response = await callServer(context.env, { method: 'PUT', path: target, body: bytes });
      const answer: unknown = await response.json();
      context.show(answer, () => `Wrote ${path ?? basename(file)}, ${bytes.length} bytes`);
    });
}
