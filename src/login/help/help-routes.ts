import { once } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ChallengeAnswer } from '../contract/shapes.ts';
import type { LoginDeps } from '../deps.ts';
import { LoginError } from '../login-error.ts';
import type { LiveLogin, Logins } from '../logins.ts';
import { newId } from '../../platform/ids.ts';
import { insertAudit } from '../../platform/store/audit.ts';
import { describeWaiting, readAnswer } from '../waiting.ts';
import { HelpDesk } from './desk.ts';
import { HelpInput } from './input.ts';
import { getHelpHeaders, renderHelpPage, renderMissingPage } from './page.ts';
import type { Frame } from './screen.ts';
import { readHelpToken, signHelpToken } from './token.ts';

const BODY_LIMIT = 64 * 1024;
const KEEPALIVE_MS = 15_000;
const MAX_AGENT = 500;

type Request = FastifyRequest<{ Params: { token: string } }>;
type Ports = { deps: LoginDeps; logins: Logins; desk: HelpDesk };

const missing = () => new LoginError('not_found', 'This link has expired, or the login is over.');
const isOver = ({ state }: LiveLogin) => state === 'succeeded' || state === 'failed';
const isFrozen = ({ state }: LiveLogin) => state === 'running';

function findHelped({ deps, logins }: Pick<Ports, 'deps' | 'logins'>, { params }: Request): LiveLogin | undefined {
  const grant = readHelpToken(deps.masterKeys, params.token, Date.now());
  return grant && logins.find(grant.organizationId, grant.loginId);
}

/** The public state of a login: nothing of the account, and a token that is valid for as long as the login waits. */
function describeHelped({ masterKeys }: LoginDeps, live: LiveLogin) {
  const { state, origin, outcome, organizationId, id, waiting } = live;
  const error = outcome !== undefined && 'error' in outcome ? outcome.error.code : null;
  if (waiting === undefined || isFrozen(live) || isOver(live)) return { state, site: origin, error, asked: null };
  const { kind, hint, options, fields, expiresAt } = describeWaiting(waiting);
  const token = signHelpToken(masterKeys, { organizationId, loginId: id, expiresAt: waiting.expiresAt });
  return { state, site: origin, error, asked: { kind, hint, options, fields, expiresAt, wrong: waiting.wrong }, token };
}

/** Records that somebody with the link has begun to help. */
async function recordHelp({ db }: LoginDeps, live: LiveLogin, request: FastifyRequest): Promise<void> {
  const { rows } = await db.query<{ name: string }>('SELECT name FROM organizations WHERE id = $1', [
    live.organizationId,
  ]);
  const userAgent = request.headers['user-agent']?.slice(0, MAX_AGENT) ?? null;
  const entry = {
    id: newId('adt'),
    time: new Date().toISOString(),
    organization: rows[0]?.name ?? '',
    organizationId: live.organizationId,
    actor: { type: 'system', id: 'login-help', name: 'whoever has the help link', ip: request.ip, userAgent },
    action: 'openLoginHelp',
    resource: { type: 'login', id: live.id },
    outcome: 'success',
    requestId: request.id,
    changes: {},
  } as const;
  await db.transaction((tx) => insertAudit(tx, entry));
}

/** Streams the state of a login and the picture of its browser until the login ends or the person leaves. */
async function streamHelp({ deps, logins, desk }: Ports, live: LiveLogin, reply: FastifyReply): Promise<void> {
  const left = new AbortController();
  const response = reply.raw;
  response.once('close', () => left.abort());
  const signal = AbortSignal.any([left.signal, deps.closing]);
  const write = (event: string, data: object) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const show = async (frame: Frame) => {
    if (signal.aborted || write('frame', frame)) return;
    await once(response, 'drain', { signal }).catch(() => undefined);
  };
  const end = desk.watch(live, show);
  reply.headers({ ...getHelpHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }).hijack();
  response.shouldKeepAlive = false;
  response.writeHead(200, reply.getHeaders() as Record<string, string>);
  try {
    for (let last = -1; !signal.aborted;) {
      if (live.version > last) write('login', describeHelped(deps, live));
      else response.write(': keepalive\n\n');
      if (isOver(live)) break;
      last = live.version;
      await logins.changed(live, last, AbortSignal.any([signal, AbortSignal.timeout(KEEPALIVE_MS)]));
    }
  } finally {
    end();
    response.end();
  }
}

/**
 * The page on which a person helps one login, its live picture, and the person's input. The link is the only
 * credential. Typed text is never logged or stored.
 */
export function registerHelpRoutes(app: FastifyInstance, deps: LoginDeps, logins: Logins): void {
  const ports = { deps, logins, desk: new HelpDesk(deps.log) };
  const find = (request: Request): LiveLogin => {
    const live = findHelped(ports, request);
    if (live === undefined) throw missing();
    return live;
  };

  app.get('/login/:token', (request: Request, reply) => {
    const found = findHelped(ports, request) !== undefined;
    return reply
      .code(found ? 200 : 404)
      .headers({ ...getHelpHeaders(), 'content-type': 'text/html; charset=utf-8' })
      .send(found ? renderHelpPage() : renderMissingPage());
  });

  app.get('/login/:token/screen', { exposeHeadRoute: false }, async (request: Request, reply) => {
    const live = find(request);
    await recordHelp(deps, live, request);
    await streamHelp(ports, live, reply);
    return reply;
  });

  app.post('/login/:token/input', { bodyLimit: BODY_LIMIT }, async (request: Request, reply) => {
    const screen = ports.desk.find(find(request));
    if (screen === undefined) throw new LoginError('conflict', 'Open the picture first.');
    const input = HelpInput.safeParse(request.body);
    // Does not quote the input, because it may be a password.
    if (!input.success) throw new LoginError('validation_error', 'body: holds no input that the page takes');
    if (!(await screen.input(input.data.events))) throw new LoginError('rate_limited', 'The page is too slow.');
    return reply.code(204).headers(getHelpHeaders()).send();
  });

  app.post('/login/:token/answer', { bodyLimit: BODY_LIMIT }, (request: Request, reply) => {
    const live = find(request);
    const answer = ChallengeAnswer.safeParse(request.body);
    if (!answer.success) throw new LoginError('validation_error', 'body: must be an answer');
    logins.input(live, readAnswer(answer.data));
    return reply.code(204).headers(getHelpHeaders()).send();
  });
}
