import type { FastifyRequest } from 'fastify';
import type { AuditEntry, AuditRecord } from '../../contract/audit.ts';
import type { Route } from '../../contract/route.ts';
import type { Db, Queryable } from '../../db/db.ts';
import { ApiError } from '../../errors.ts';
import { newId } from '../../ids.ts';
import type { Logger } from '../../log.ts';
import { isRecord } from '../../records.ts';
import { insertAudit } from '../../store/audit.ts';
import { runAudited } from './audited-db.ts';
import { describeChanges, findResource } from './describe.ts';

const MAX_AGENT = 500;

/** Who is named in a record. */
type Actor = { type: 'key' | 'user'; id: string; name: string };

/** An operation as it was asked for. */
export type AuditedCall = {
  caller: { organization: string; organizationId: string; actor: Actor };
  request: FastifyRequest;
  params: Readonly<Record<string, string>> | undefined;
  body: unknown;
};

/** Whose change it is and what it is, where no caller is known yet: a sign-in. */
export type AuditedSignIn = Pick<AuditEntry, 'organization' | 'organizationId' | 'action' | 'resource'> & {
  actor: Actor;
  request: FastifyRequest;
};

export type Audit = {
  /** Runs an operation that may change something, and records it with its change, or that it was refused. */
  run<T>(route: Route, call: AuditedCall, work: () => Promise<T>): Promise<T>;
  /** Records a sign-in in its transaction. */
  add(tx: Queryable, signIn: AuditedSignIn): Promise<void>;
};

/** The address and user agent of a caller. */
function describeOrigin(request: FastifyRequest) {
  return { ip: request.ip, userAgent: request.headers['user-agent']?.slice(0, MAX_AGENT) ?? null };
}

/** A path below an agent that names a subject: the resource alone does not tell whose data it was. */
function pickSubject(params: AuditedCall['params']): Record<string, string> {
  const subjectId = params?.['subjectId'];
  return subjectId === undefined ? {} : { subjectId };
}

/** `print`: each record is a line of the log too, whatever its level. */
export function openAudit(db: Db, log: Logger, { print = false }: { print?: boolean | undefined } = {}): Audit {
  const lines = log.child({}, { level: 'info' });
  const tell = (record: AuditRecord | undefined) => {
    if (print && record !== undefined) lines.info({ audit: record }, 'audit');
  };
  return {
    async run(route, { caller, request, params, body }, work) {
      const { organization, organizationId, actor } = caller;
      const draft = {
        organization,
        organizationId,
        actor: { ...actor, ...describeOrigin(request) },
        action: route.id,
        resource: findResource(route, params ?? {}),
        outcome: 'success',
        requestId: request.id,
        changes: describeChanges({ ...pickSubject(params), ...(isRecord(body) ? body : {}) }),
      } as const;
      try {
        const { result, record } = await runAudited(db, draft, route.tag === 'Files', work);
        tell(record);
        return result;
      } catch (error) {
        if (error instanceof ApiError && error.details.isRecorded === true) {
          const { type, id } = draft.resource;
          const changes = { ...draft.changes, reason: error.message };
          const entry = { ...draft, id: newId('adt'), time: new Date().toISOString(), outcome: 'failure' } as const;
          tell(await insertAudit(db, { ...entry, resource: { type, id }, changes }));
        }
        throw error;
      }
    },
    async add(tx, { actor, request, ...signIn }) {
      const entry = {
        ...signIn,
        id: newId('adt'),
        time: new Date().toISOString(),
        actor: { ...actor, ...describeOrigin(request) },
        outcome: 'success',
        requestId: request.id,
        changes: {},
      } as const;
      tell(await insertAudit(tx, entry));
    },
  };
}
