import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, OutboundPayload, Session } from '../../clients/typescript/index.ts';
import { CliError } from './cli-error.ts';

type ActionRequest = Extract<OutboundPayload, { type: 'agent.approval_request' | 'agent.clarify_request' }>;

const POLL_MS = 250;
/** How long a running turn may take to ask. */
const MAX_WAIT_MS = 30_000;
const PAGE = 100;

/** A prompt that was just sent may not have asked yet. */
export async function waitWhileRunning(client: Client, sessionId: string): Promise<Session> {
  const deadline = Date.now() + MAX_WAIT_MS;
  for (;;) {
    const session = await client.getSession(sessionId);
    if (session.status !== 'running') return session;
    if (Date.now() > deadline) {
      throw new CliError(`The session is still running after ${MAX_WAIT_MS / 1000} s and asks for nothing.`);
    }
    await sleep(POLL_MS);
  }
}

/** The requests of one type with these ids, in the order of the log. */
export async function findActionRequests<Type extends ActionRequest['type']>(
  client: Client,
  sessionId: string,
  type: Type,
  ids: ReadonlySet<string>,
): Promise<Extract<ActionRequest, { type: Type }>[]> {
  const isAsked = (payload: { type: string; id?: string }): payload is Extract<ActionRequest, { type: Type }> =>
    payload.type === type && payload.id !== undefined && ids.has(payload.id);
  const found: Extract<ActionRequest, { type: Type }>[] = [];
  for (let after = 0; ;) {
    const page = await client.listEvents(sessionId, { after, limit: PAGE });
    for (const { payload } of page.data) if (isAsked(payload)) found.push(payload);
    if (!page.pagination.hasMore || found.length === ids.size) return found;
    after = page.data.at(-1)?.sequence ?? after;
  }
}
