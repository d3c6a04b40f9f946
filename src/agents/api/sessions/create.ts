import type { SessionCreate, Session } from '../../contract/sessions.ts';
import type { ErrorBody } from '../../../platform/contract/errors.ts';
import { errors, errorText } from '../../../platform/errors.ts';
import { findSessionTemplate, insertSession } from '../../store/sessions.ts';
import type { NewSession } from '../../store/sessions.ts';
import { archivedAgent } from '../agents/find.ts';
import { subjectKey, takeAllowance } from '../../../platform/http/allowance.ts';
import type { ApiDeps } from '../deps.ts';
import { requireSubjectStays } from '../subjects/remove.ts';

type Created = { session: Session; rateLimit: NonNullable<ErrorBody['rateLimit']> };

/** Resolves the version once and takes a conversation of the subject's allowance, given back when nothing is made. */
export async function createSession(deps: ApiDeps, organizationId: string, body: SessionCreate): Promise<Created> {
  const tag = body.tag ?? null;
  const template = await findSessionTemplate(deps.db, organizationId, body.agentId, { preview: body.preview, tag });
  if (template === undefined) throw errors.notFound('agent');
  if (template.agentStatus === 'archived') throw archivedAgent();
  const { version } = template;
  if (version === undefined) throw errors.validation('tag: must be a development tag of the agent');
  if (body.role !== undefined && !version.roles.includes(body.role)) {
    throw errors.validation('role: must be a role of the agent version');
  }
  const key = subjectKey('conversations', { organizationId, agentId: body.agentId, subjectId: body.subjectId });
  const rateLimit = await takeAllowance(deps.limits, 'conversations', {
    key,
    points: 1,
    limit: template.conversationsPerMinute,
  });
  const session = await insertOrRefund(deps, key, {
    organizationId,
    agentId: body.agentId,
    agentVersionId: version.id,
    agentVersion: version.version,
    subjectId: body.subjectId,
    role: body.role ?? null,
    title: body.title ?? null,
    yoloMode: body.yoloMode,
    preview: body.preview,
    tag,
    reasoning: body.reasoning ?? null,
    metadata: body.metadata ?? {},
    automationId: null,
  });
  await announce(deps, organizationId, session);
  return { session, rateLimit };
}

/** The session is unknown until this has ended, so it cannot be deleted before it is announced. */
async function announce(deps: ApiDeps, organizationId: string, { id, agentId, subjectId }: Session): Promise<void> {
  await deps.sandboxes.announce({ organizationId, agentId, subjectId, sessionId: id }).catch((error: unknown) => {
    deps.log.warn(
      { sessionId: id, error: errorText(error) },
      'session not announced; its first turn creates the resource',
    );
  });
}

async function insertOrRefund(deps: ApiDeps, key: string, session: NewSession): Promise<Session> {
  try {
    return await deps.db.transaction(async (tx) => {
      await requireSubjectStays(tx, session);
      const inserted = await insertSession(tx, session);
      if (inserted === undefined) throw errors.notFound('agent');
      return inserted;
    });
  } catch (error) {
    await deps.limits.refund(key, 1).catch((failure: unknown) => {
      deps.log.warn({ error: errorText(failure) }, 'conversation point not refunded');
    });
    throw error;
  }
}
