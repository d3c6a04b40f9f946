import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asyncLoginRoutes as routes } from './contract/login-routes.ts';
import type { LoginRecord } from './contract/logins.ts';
import type { Caller } from '../platform/http/deps.ts';
import { findBase } from '../platform/http/public-base.ts';
import { registerRoute } from '../platform/http/route.ts';
import type { Answer as HttpAnswer } from '../platform/http/route.ts';
import type { LoginDeps } from './deps.ts';
import { signHelpToken } from './help/token.ts';
import { LoginError } from './login-error.ts';
import type { Logins } from './logins.ts';
import { showSession } from './service.ts';
import type { LoginService } from './service.ts';
import { readStoredSession } from './session-cache.ts';
import {
  ALIVE_SECONDS,
  deleteLogin,
  endAbandonedLogins,
  findLogin,
  findLoginTrace,
  listLogins,
} from './store/logins.ts';
import type { LoginRow } from './store/logins.ts';
import { readAnswer } from './waiting.ts';

/** Interval for polling a login of another process, and for keepalives on a silent stream. */
const LOOK_MS = 1000;
const KEEPALIVE_MS = 15_000;

const STATUS: Record<LoginRow['state'], LoginRecord['status']> = {
  running: 'running',
  awaiting_input: 'waiting',
  awaiting_external_action: 'waiting',
  succeeded: 'succeeded',
  failed: 'failed',
};

const missing = () => new LoginError('not_found', 'No such login.');
const isOver = ({ state }: Pick<LoginRow, 'state'>) => state === 'succeeded' || state === 'failed';

/** The caller, and the address of the service that was called. */
type Asking = { caller: Pick<Caller, 'organizationId' | 'keyId' | 'scopes'>; request: FastifyRequest };
type Help = Pick<LoginRecord, 'helpUrl' | 'helpUrlExpiresAt'>;

function showLogin(row: LoginRow, hasPicture: boolean, help: Help): LoginRecord {
  const { id, action } = row;
  const challenge = action && {
    challengeId: action.challengeId,
    kind: action.kind,
    hint: action.hint,
    expiresAt: action.expiresAt,
  };
  return {
    object: 'login',
    id,
    loginId: id,
    operation: row.operation,
    origin: row.origin,
    usernameHint: row.username_hint,
    method: row.method,
    state: row.state,
    status: STATUS[row.state],
    action,
    challenge,
    ...help,
    error: row.error,
    cache: row.cache,
    credentialId: row.credential_id,
    hasPicture,
    startedAt: row.started_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    durationMs: row.ended_at === null ? null : row.ended_at.getTime() - row.started_at.getTime(),
  };
}

/** Reads and describes logins of any process. */
function openReader(deps: LoginDeps, logins: Logins) {
  const { db } = deps;
  const find = async (organizationId: string, id: string): Promise<LoginRow> => {
    const row = await findLogin(db, organizationId, id);
    if (row === undefined) throw missing();
    if (isOver(row) || logins.find(organizationId, id) !== undefined) return row;
    // Its process may have ended.
    await endAbandonedLogins(db);
    return (await findLogin(db, organizationId, id)) ?? row;
  };
  const help = ({ caller, request }: Asking, { id, action, state }: LoginRow): Help => {
    // Read-only callers do not get an address with which to act.
    if (action === null || isOver({ state }) || !caller.scopes.includes('login')) {
      return { helpUrl: null, helpUrlExpiresAt: null };
    }
    const expiresAt = new Date(action.expiresAt);
    const token = signHelpToken(deps.masterKeys, { organizationId: caller.organizationId, loginId: id, expiresAt });
    return { helpUrl: `${findBase(request, deps.publicUrl)}/login/${token}`, helpUrlExpiresAt: action.expiresAt };
  };
  const show = (asking: Asking, row: LoginRow): LoginRecord =>
    showLogin(row, logins.find(asking.caller.organizationId, row.id)?.recorder.hasPage ?? false, help(asking, row));
  return {
    find,
    show,
    /** With its session. */
    async read(asking: Asking, id: string): Promise<LoginRecord> {
      const { organizationId } = asking.caller;
      const row = await find(organizationId, id);
      const record = show(asking, row);
      if (row.state !== 'succeeded') return record;
      const kept =
        row.session_key === null ? undefined : await readStoredSession(deps, organizationId, row.session_key);
      return { ...record, session: kept === undefined ? null : showSession(kept, undefined) };
    },
  };
}

type Reader = ReturnType<typeof openReader>;

/** Streams the record of a login until it ends, the caller leaves, or the server closes. */
async function streamLogin(
  { deps, logins, reader }: { deps: LoginDeps; logins: Logins; reader: Reader },
  asking: Asking,
  { id, reply }: { id: string; reply: FastifyReply },
): Promise<HttpAnswer> {
  const { organizationId, keyId } = asking.caller;
  await reader.find(organizationId, id);
  const release = deps.streamSlots.acquire(keyId);
  const left = new AbortController();
  const response = reply.raw;
  response.once('close', () => left.abort());
  reply
    .headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
    .hijack();
  response.shouldKeepAlive = false;
  response.writeHead(200, reply.getHeaders() as Record<string, string>);
  const signal = AbortSignal.any([left.signal, deps.closing]);
  let last = '';
  let quietSince = Date.now();
  try {
    while (!signal.aborted) {
      const version = logins.find(organizationId, id)?.version ?? 0;
      const row = await reader.find(organizationId, id);
      const text = JSON.stringify(reader.show(asking, row));
      if (text !== last) response.write(`event: login.updated\ndata: ${text}\n\n`);
      else if (Date.now() - quietSince > KEEPALIVE_MS) response.write(': keepalive\n\n');
      if (text !== last || Date.now() - quietSince > KEEPALIVE_MS) quietSince = Date.now();
      last = text;
      if (isOver(row)) break;
      const live = logins.find(organizationId, id);
      const pause = AbortSignal.any([signal, AbortSignal.timeout(live === undefined ? LOOK_MS : KEEPALIVE_MS)]);
      if (live !== undefined) await logins.changed(live, version, pause);
      else await new Promise<void>((resolve) => pause.addEventListener('abort', () => resolve(), { once: true }));
    }
  } catch {
    // The login was deleted, or the database is unavailable: end the stream; the caller retries.
  } finally {
    release();
    response.end();
  }
  return 'hijacked';
}

/** `GET /api/logins` and the routes below it. */
export function registerLoginRoutes(
  app: FastifyInstance,
  deps: LoginDeps,
  { logins, service }: { logins: Logins; service: LoginService },
): void {
  const { db } = deps;
  const reader = openReader(deps, logins);

  registerRoute(app, deps, routes.startLogin, async (call) => {
    const { id } = await service.start(call.caller.organizationId, call.body);
    const headers = { location: `/api/logins/${id}`, 'x-login-id': id };
    return { status: 202, body: await reader.read(call, id), headers };
  });

  registerRoute(app, deps, routes.listLogins, async (call) => {
    const { rows, nextCursor } = await listLogins(db, call.caller.organizationId, call.query);
    const data = rows.map((row) => reader.show(call, row));
    const pagination = { limit: call.query.limit, hasMore: nextCursor !== null, nextCursor };
    return { status: 200, body: { object: 'list', data, pagination } };
  });

  registerRoute(app, deps, routes.getLogin, async (call) => ({
    status: 200,
    body: await reader.read(call, call.params.loginId),
  }));

  registerRoute(app, deps, routes.giveLoginInput, async (call) => {
    const { params, body } = call;
    const { organizationId } = call.caller;
    const live = logins.find(organizationId, params.loginId);
    if (live === undefined) {
      const row = await reader.find(organizationId, params.loginId);
      if (!isOver(row)) {
        throw new LoginError('conflict', `Another process holds this login; ask again within ${ALIVE_SECONDS} s.`);
      }
      const details = row.error?.details?.['reason'] === 'browser_gone' ? { details: { reason: 'browser_gone' } } : {};
      throw new LoginError('challenge_expired', 'The login is over.', details);
    }
    logins.input(live, readAnswer(body));
    return { status: 202, body: await reader.read(call, params.loginId) };
  });

  registerRoute(app, deps, routes.deleteLogin, async ({ params, caller }) => {
    const { loginId } = params;
    const live = logins.find(caller.organizationId, loginId);
    if (live !== undefined) logins.cancel(live);
    if (!(await deleteLogin(db, caller.organizationId, loginId))) throw missing();
    return { status: 200, body: { object: 'login.deleted', id: loginId, deleted: true } };
  });

  registerRoute(app, deps, routes.streamLogin, ({ params, caller, request, reply }) =>
    streamLogin({ deps, logins, reader }, { caller, request }, { id: params.loginId, reply }),
  );

  registerRoute(app, deps, routes.getLoginTrace, async ({ params, caller }) => {
    const { organizationId } = caller;
    const { id, state, error } = await reader.find(organizationId, params.loginId);
    const live = logins.find(organizationId, id);
    const entries = live?.recorder.entries ?? (await findLoginTrace(db, organizationId, id));
    return { status: 200, body: { object: 'login.trace', id, state, error, entries } };
  });

  registerRoute(app, deps, routes.getLoginPicture, async ({ params, caller }) => {
    const { organizationId } = caller;
    await reader.find(organizationId, params.loginId);
    const live = logins.find(organizationId, params.loginId);
    if (live === undefined) throw new LoginError('not_found', 'The login has no page any more.');
    const body = await live.recorder.takePicture();
    return { status: 200, body, headers: { 'content-type': 'image/jpeg', 'cache-control': 'no-store' } };
  });
}
