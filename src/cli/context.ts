import type { Command } from 'commander';
import { buildClient } from '../../clients/typescript/index.ts';
import type { Client } from '../../clients/typescript/index.ts';
import { findConnection } from './connection.ts';
import type { Environment } from './connection.ts';
import { CliError } from './cli-error.ts';

/** A person waits: a server that is not there is said within a second. */
const MAX_RETRIES = 2;

/** What every command gets. */
export type Context = {
  env: Environment;
  /** opened on the first use: usage errors come before connection errors */
  client: Client;
  json: boolean;
  /** the value for machines, or its text for people */
  show(value: unknown, text: () => string): void;
};

export function buildContext(command: Command): Context {
  const json = command.optsWithGlobals()['json'] === true;
  let client: Client | undefined;
  return {
    env: process.env,
    get client() {
      return (client ??= buildClient({ ...findConnection(process.env), maxRetries: MAX_RETRIES }));
    },
    json,
    show(value, text) {
      process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text()}\n`);
    },
  };
}

export function readInteger(text: string, name: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new CliError(`${name} must be a whole number.`, 2);
  return Number(text);
}

export function readPage({ limit, offset }: { limit: string; offset: string }): { limit: number; offset: number } {
  return { limit: readInteger(limit, '--limit'), offset: readInteger(offset, '--offset') };
}
