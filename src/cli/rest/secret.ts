import { readFileSync } from 'node:fs';
import { CliError } from '../cli-error.ts';
import type { Environment } from '../connection.ts';

/** A secret from a variable, else from standard input. Not an argument: those are visible to every user of the machine. */
export function readSecret(env: Environment, variable: string): string {
  const given = env[variable] ?? (process.stdin.isTTY ? '' : readFileSync(0, 'utf8'));
  const secret = given.replace(/\r?\n$/, '');
  if (secret === '') throw new CliError(`Set ${variable}, or pipe the secret in.`, 2);
  return secret;
}
