import type { FastifyInstance } from 'fastify';
import { MEMORY_LIMITS, countCharacters, joinEntries, splitEntries, ENTRY_SEPARATOR } from '../../contract/memory.ts';
import type { Memory, MemoryPut } from '../../contract/memory.ts';
import { memoryRoutes } from '../../contract/routes/memory.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { errors } from '../../../platform/errors.ts';
import { changeMemory, clearMemory, readMemory } from '../../store/memories.ts';
import type { MemoryDocument, MemoryKey } from '../../store/memories.ts';
import { getActiveAgent, getAgent } from '../agents/find.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';

function buildMemory(target: MemoryKey['target'], { content, updatedAt }: MemoryDocument): Memory {
  return {
    object: 'memory',
    target,
    content,
    entries: splitEntries(content),
    usedChars: countCharacters(content),
    maxChars: MEMORY_LIMITS[target],
    checksumSha256: sha256(content),
    updatedAt: updatedAt?.toISOString() ?? null,
  };
}

function readContent(body: MemoryPut, target: MemoryKey['target']): string {
  const broken = (body.entries ?? []).findIndex((entry) => entry.includes(ENTRY_SEPARATOR) || entry.trim() === '');
  if (broken >= 0) throw errors.validation(`entries[${broken}]: must be one entry with text`);
  const content = body.content ?? joinEntries((body.entries ?? []).map((entry) => entry.trim()));
  const limit = MEMORY_LIMITS[target];
  if (countCharacters(content) > limit) {
    const field = body.content === undefined ? 'entries' : 'content';
    throw errors.validation(`${field}: must be at most ${limit} characters`);
  }
  return content;
}

async function put(deps: ApiDeps, key: MemoryKey, body: MemoryPut): Promise<Memory> {
  const content = readContent(body, key.target);
  const expected = body.expectedChecksumSha256?.toLowerCase();
  const written = await deps.db.transaction((tx) =>
    changeMemory(tx, key, (current) => {
      if (expected !== undefined && sha256(current) !== expected) {
        throw errors.conflict('The memory has changed: its checksum is another.');
      }
      return content;
    }),
  );
  if (written === undefined) throw errors.notFound('agent');
  return buildMemory(key.target, written);
}

/** Documents that models read: the agent's shared notes, and two of each subject. */
export function registerMemoryRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;
  const agentKey = (organizationId: string, agentId: string): MemoryKey => ({
    organizationId,
    agentId,
    subjectId: '',
    target: 'agent',
  });

  registerRoute(app, deps, memoryRoutes.getAgentMemory, async ({ params, caller }) => {
    const agent = await getAgent(db, caller.organizationId, params.agentId);
    return { status: 200, body: buildMemory('agent', await readMemory(db, agentKey(caller.organizationId, agent.id))) };
  });

  registerRoute(app, deps, memoryRoutes.putAgentMemory, async ({ params, body, caller }) => {
    const agent = await getActiveAgent(db, caller.organizationId, params.agentId);
    return { status: 200, body: await put(deps, agentKey(caller.organizationId, agent.id), body) };
  });

  registerRoute(app, deps, memoryRoutes.deleteAgentMemory, async ({ params, caller }) => {
    const agent = await getActiveAgent(db, caller.organizationId, params.agentId);
    await clearMemory(db, agentKey(caller.organizationId, agent.id));
    return { status: 200, body: { object: 'memory.deleted', target: 'agent', deleted: true } };
  });

  registerRoute(app, deps, memoryRoutes.getMemory, async ({ params, query, caller }) => {
    await getAgent(db, caller.organizationId, params.agentId);
    const key = { organizationId: caller.organizationId, ...params, target: query.target };
    return { status: 200, body: buildMemory(query.target, await readMemory(db, key)) };
  });

  registerRoute(app, deps, memoryRoutes.putMemory, async ({ params, query, body, caller }) => {
    await getAgent(db, caller.organizationId, params.agentId);
    const key = { organizationId: caller.organizationId, ...params, target: query.target };
    return { status: 200, body: await put(deps, key, body) };
  });

  registerRoute(app, deps, memoryRoutes.deleteMemory, async ({ params, query, caller }) => {
    await getAgent(db, caller.organizationId, params.agentId);
    await clearMemory(db, { organizationId: caller.organizationId, ...params, target: query.target });
    return { status: 200, body: { object: 'memory.deleted', target: query.target, deleted: true } };
  });
}
