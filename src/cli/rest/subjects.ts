// Tests: test/cli/rest.test.ts
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { describeCause } from '../../../clients/typescript/errors.ts';
import { CliError } from '../cli-error.ts';
import { buildContext } from '../context.ts';
import { getAgent } from '../find-agent.ts';
import { callServer } from './call.ts';

/** `subjects export`: writes the archive as it comes. */
export function addExportCommand(subjects: Command): void {
  const command = subjects.command('export <agent> <file>');
  command
    .description('all that is kept about a subject, as a tar archive; - is standard output')
    .option('--subject <subject>', 'whose data; default: your user name', userInfo().username)
    .action(async (agent: string, file: string) => {
      const context = buildContext(command);
      const { id } = await getAgent(context.client, agent);
      const { subject } = command.opts<{ subject: string }>();
      const path = `/v1/agents/${id}/users/${encodeURIComponent(subject)}/export`;
      const { body } = await callServer(context.env, { method: 'GET', path, isDownload: true, isLong: true });
      if (body === null) throw new CliError('The server sent nothing.');
      const source = Readable.fromWeb(body);
      if (file === '-') return pipeline(source, process.stdout, { end: false });
      await pipeline(source, createWriteStream(file)).catch(async (error: unknown) => {
        await rm(file, { force: true });
        throw new CliError(`The export was cut off (${describeCause(error)}); try again.`);
      });
      context.show({ file }, () => `Wrote ${file}`);
    });
}
