// Tests: test/gateway/hooks.test.ts
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { StartupError, errorText } from '../../platform/errors.ts';
import { HookAnswer } from '../contract/hooks.ts';
import type { HookConfig } from '../contract/hooks.ts';
import { readHookSettings } from './hook.ts';
import type { Hook, HookCall } from './hook.ts';

type Handler = (call: HookCall, context: { signal: AbortSignal }) => unknown;

const Handler = z.custom<Handler>((value) => typeof value === 'function', 'must be a function');
const HookModule = z.object({ onRequest: Handler.optional(), onResponse: Handler.optional() });

function buildAsk(handler: Handler | undefined) {
  if (handler === undefined) return undefined;
  return async (call: HookCall, signal: AbortSignal) => HookAnswer.parse((await handler(call, { signal })) ?? {});
}

/** A hook of this process. Throws a `StartupError` for a module that cannot be loaded or has no function to call. */
export async function loadHookModule(config: HookConfig & { module: string }): Promise<Hook> {
  const { name, module: path } = config;
  let found: unknown;
  try {
    found = await import(pathToFileURL(path).href);
  } catch (error) {
    throw new StartupError(`gateway.hooks: ${name}: the module ${path} cannot be loaded: ${errorText(error)}`);
  }
  const parsed = HookModule.safeParse({ ...(found as object) });
  const { onRequest, onResponse } = parsed.data ?? {};
  if (onRequest === undefined && onResponse === undefined)
    throw new StartupError(`gateway.hooks: ${name}: ${path} must export a function onRequest or onResponse.`);
  return {
    ...readHookSettings(config),
    onRequest: buildAsk(onRequest),
    onResponse: buildAsk(onResponse),
  };
}
