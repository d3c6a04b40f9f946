import type { Command } from 'commander';
import { isRecord } from '../../platform/records.ts';
import { errorText } from '../../platform/errors.ts';
import { buildContext } from '../context.ts';
import { findConnection } from '../connection.ts';
import { cleanText, paint } from '../text.ts';
import { callServer } from './call.ts';

type Check = { name: string; ok: boolean; detail: string };

/** The result of a check; a failure is also a result. */
async function check(name: string, run: () => Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, detail: await run() };
  } catch (error) {
    return { name, ok: false, detail: errorText(error) };
  }
}

async function readJson(env: NodeJS.ProcessEnv, path: string): Promise<Record<string, unknown>> {
  const value: unknown = await (await callServer(env, { method: 'GET', path })).json();
  return isRecord(value) ? value : {};
}

function count(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the connection, the API key and the server')
    .action(async (_flags: object, command: Command) => {
      const context = buildContext(command);
      const { env } = context;
      const checks = [
        await check('connection', async () => findConnection(env).baseUrl),
        await check('server', async () => `version ${String((await readJson(env, '/'))['version'])}`),
        await check('backends', async () => {
          const ready = await readJson(env, '/readyz');
          return Object.entries(isRecord(ready['checks']) ? ready['checks'] : ready)
            .map(([name, state]) => `${name} ${typeof state === 'string' ? state : JSON.stringify(state)}`)
            .join(', ');
        }),
        await check('API key', async () => {
          await readJson(env, '/v1/agents?limit=1');
          return 'accepted';
        }),
        await check('models', async () => `${count((await readJson(env, '/v1/models'))['data'])} configured`),
      ];
      context.show({ checks }, () =>
        checks
          .map(({ name, ok, detail }) => {
            const mark = ok ? paint('green', '✓') : paint('red', '✗');
            return `${mark} ${name.padEnd(10)}  ${cleanText(detail)}`;
          })
          .join('\n'),
      );
      if (checks.some(({ ok }) => !ok)) process.exitCode = 1;
    });
}
