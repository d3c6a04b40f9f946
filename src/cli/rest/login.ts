import type { Command } from 'commander';
import { omitUndefined } from '../../platform/records.ts';
import { buildContext } from '../context.ts';
import { callServer } from './call.ts';
import { readSecret } from './secret.ts';
import { showAnswer } from './show.ts';

type Flags = { username?: string };

export function addLoginCommand(program: Command): void {
  program
    .command('login <url>')
    .description('sign in to a website; the password is read from CAPSTAN_LOGIN_PASSWORD or standard input')
    .option('--username <name>', 'user name at the site')
    .action(async (url: string, { username }: Flags, command: Command) => {
      const context = buildContext(command);
      const password = readSecret(context.env, 'CAPSTAN_LOGIN_PASSWORD');
      const cred = { ...omitUndefined({ username }), password };
      const body = { loginMethod: 'password', domain: url, cred };
      const response = await callServer(context.env, { method: 'POST', path: '/api/login', body });
      const answer: unknown = await response.json();
      context.show(answer, () => showAnswer(answer));
    });
}
