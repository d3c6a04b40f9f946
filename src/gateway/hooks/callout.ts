// Tests: test/gateway/hooks.test.ts
import { randomUUID } from 'node:crypto';
import type { Egress } from '../../platform/egress/egress.ts';
import { buildWebhookHeaders } from '../../platform/webhook-signature.ts';
import { HookAnswer } from '../contract/hooks.ts';
import type { HookConfig } from '../contract/hooks.ts';
import { readHookSettings } from './hook.ts';
import type { Hook } from './hook.ts';

/** A replacement may be as large as a reply of a provider. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** A hook behind HTTP: one signed POST for each call. Redirects are refused. */
export function buildCallout(config: HookConfig & { url: string; secret: string }, egress: Egress): Hook {
  async function ask(type: string, data: object, signal: AbortSignal): Promise<HookAnswer> {
    const timestamp = Math.floor(Date.now() / 1000);
    const body = JSON.stringify({ type, timestamp: new Date(timestamp * 1000).toISOString(), data });
    const response = await egress.fetch(config.url, {
      method: 'POST',
      redirect: 'error',
      headers: buildWebhookHeaders([config.secret], { id: `msg_${randomUUID().replaceAll('-', '')}`, timestamp, body }),
      body,
      signal,
      maxBytes: MAX_ANSWER_BYTES,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`The hook answered ${response.status}.`);
    return HookAnswer.parse(text === '' ? {} : JSON.parse(text));
  }

  const { on } = config;
  return {
    ...readHookSettings(config),
    onRequest: on.includes('request') ? (call, signal) => ask('gateway.request', call, signal) : undefined,
    onResponse: on.includes('response') ? (call, signal) => ask('gateway.response', call, signal) : undefined,
  };
}
