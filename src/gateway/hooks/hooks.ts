// Tests: test/gateway/hooks.test.ts
import type { Egress } from '../../platform/egress/egress.ts';
import { StartupError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { HookAnswer, HookConfig } from '../contract/hooks.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { GatewayError } from '../gateway-error.ts';
import { buildCallout } from './callout.ts';
import { loadHookModule } from './load-module.ts';
import type { Hook, HookCall } from './hook.ts';

/** The hooks of a call whose response is inspected. */
export type ResponseGuard = {
  /** whether nothing of a stream may be sent before `inspect` has returned */
  holdStreams: boolean;
  /**
   * Returns the response to send. Throws a `GatewayError` if a hook refuses the response, has failed, or replaces a reply
   * that is streamed.
   */
  inspect(response: JsonObject): Promise<JsonObject>;
};

const REFUSED = 'The content was refused by a policy of this gateway.';

function refuse(hook: Hook, { message }: HookAnswer): GatewayError {
  return new GatewayError('content_policy_violation', message ?? REFUSED, { details: { hook: hook.name } });
}

/** The hooks of the gateway, in the order of the configuration. Each sees what those before it have replaced. */
export class Hooks {
  readonly #hooks: readonly Hook[];
  readonly #log: Logger;

  constructor(hooks: readonly Hook[], log: Logger) {
    this.#hooks = hooks;
    this.#log = log;
  }

  /** The answer of one hook; undefined: it has failed and the call goes on. */
  async #ask(hook: Hook, requestId: string, ask: (signal: AbortSignal) => Promise<HookAnswer>) {
    const timeout = AbortSignal.timeout(hook.timeoutMs);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const onTimeout = () => reject(new Error('It did not answer in time.'));
    timeout.addEventListener('abort', onTimeout, { once: true });
    try {
      return await Promise.race([ask(timeout), late]);
    } catch (error) {
      const { name, failOpen } = hook;
      // Errors of parsers quote what they read, so only the kind is logged.
      const reason = timeout.aborted ? 'timeout' : error instanceof Error ? error.name : 'error';
      this.#log.warn({ hook: name, requestId, reason, failOpen }, 'hook failed');
      if (failOpen) return undefined;
      throw new GatewayError('unavailable', `The hook ${name} of this gateway has failed.`, { cause: error });
    } finally {
      timeout.removeEventListener('abort', onTimeout);
    }
  }

  /** The body of the request to answer. Throws a `GatewayError` if a hook refuses it or has failed. */
  async inspectRequest(call: HookCall): Promise<JsonObject> {
    let { request } = call;
    for (const hook of this.#hooks) {
      const { onRequest } = hook;
      if (onRequest === undefined) continue;
      const answer = await this.#ask(hook, call.requestId, (signal) => onRequest({ ...call, request }, signal));
      if (answer?.action === 'refuse') throw refuse(hook, answer);
      if (answer?.action === 'replace' && answer.body !== undefined) request = answer.body;
    }
    return request;
  }

  /** Undefined: no hook inspects responses. */
  guardResponse(call: HookCall): ResponseGuard | undefined {
    const hooks = this.#hooks.filter(({ onResponse }) => onResponse !== undefined);
    if (hooks.length === 0) return undefined;
    return {
      holdStreams: hooks.some(({ holdStreams }) => holdStreams),
      inspect: async (whole) => {
        let response = whole;
        for (const hook of hooks) {
          const { onResponse } = hook;
          if (onResponse === undefined) continue;
          const answer = await this.#ask(hook, call.requestId, (signal) => onResponse({ ...call, response }, signal));
          // What is streamed cannot be replaced any more, and must not be sent as it was.
          if (answer?.action === 'refuse' || (call.stream && answer?.action === 'replace')) throw refuse(hook, answer);
          if (answer?.action === 'replace' && answer.body !== undefined) response = answer.body;
        }
        return response;
      },
    };
  }
}

/** Opens the configured hooks. Throws a `StartupError` for one that cannot be opened. */
export async function openHooks(
  configs: readonly HookConfig[],
  { egress, log }: { egress: Egress; log: Logger },
): Promise<Hooks> {
  const open = async (config: HookConfig): Promise<Hook> => {
    const { url, module, secret, name } = config;
    if (module !== undefined) return loadHookModule({ ...config, module });
    if (url !== undefined && secret !== undefined) return buildCallout({ ...config, url, secret }, egress);
    throw new StartupError(`gateway.hooks: ${name}: its secret is missing.`);
  };
  return new Hooks(await Promise.all(configs.map(open)), log);
}
