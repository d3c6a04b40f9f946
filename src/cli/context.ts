import type { Command } from 'commander';
import { buildClient } from './client.ts';
import type { Client } from './client.ts';
import { findConnection } from './connection.ts';
import type { Environment } from './connection.ts';
import { CliFault } from './fault.ts';

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
      return (client ??= buildClient(findConnection(process.env)));
    },
    json,
    show(value, text) {
      process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text()}\n`);
    },
  };
}

export function readInteger(text: string, name: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new CliFault(`${name} must be a whole number.`, 2);
  return Number(text);
}
