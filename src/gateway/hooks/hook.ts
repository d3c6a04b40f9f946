import type { JsonObject } from '../dialects/dialect.ts';
import type { HookAnswer, HookConfig } from '../contract/hooks.ts';

/** The call that a hook is asked about. */
export type HookCall = {
  requestId: string;
  organizationId: string;
  keyId: string;
  /** the client's format, or the endpoint's name, such as `embeddings` */
  format: string;
  /** as the client named it; empty where the request names none */
  model: string;
  stream: boolean;
  /** the body of the request, in the client's format, with the replacements of earlier hooks */
  request: JsonObject;
};

/** A hook asked about a response gets it in the client's format; of a streamed reply the whole. */
export type HookResponse = HookCall & { response: JsonObject };

type Ask<Subject> = (subject: Subject, signal: AbortSignal) => Promise<HookAnswer>;

/** Throws when it fails; never after `signal` has aborted. */
export type Hook = {
  name: string;
  timeoutMs: number;
  failOpen: boolean;
  /** whether streamed replies are held until the hook allows them */
  holdStreams: boolean;
  onRequest?: Ask<HookCall> | undefined;
  onResponse?: Ask<HookResponse> | undefined;
};

/** What the settings say of a hook, of whatever kind it is. */
export function readHookSettings(config: HookConfig): Pick<Hook, 'name' | 'timeoutMs' | 'failOpen' | 'holdStreams'> {
  const { name, timeoutSeconds, failOpen, streams } = config;
  return { name, timeoutMs: timeoutSeconds * 1000, failOpen, holdStreams: streams === 'hold' };
}
