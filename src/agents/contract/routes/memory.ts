import { z } from 'zod';
import { Id, SubjectId } from '../../../platform/contract/common.ts';
import { Memory, MemoryDeleted, MemoryPut, MemoryQuery } from '../memory.ts';
import { defineRoute } from '../../../platform/contract/route.ts';

const AgentParams = z.object({ agentId: Id });
const SubjectParams = AgentParams.extend({ subjectId: SubjectId });
const tag = 'Memory';
const read = { tag, scope: 'agents:read' } as const;
const write = { tag, scope: 'agents:write' } as const;
const AGENT = '/v1/agents/{agentId}/memory';
const SUBJECT = '/v1/agents/{agentId}/users/{subjectId}/memory';

export const memoryRoutes = {
  getAgentMemory: defineRoute({
    ...read,
    id: 'getAgentMemory',
    method: 'GET',
    path: AGENT,
    summary: 'The notes that every session of an agent sees',
    params: AgentParams,
    responses: { 200: Memory },
    errors: ['not_found'],
  }),
  putAgentMemory: defineRoute({
    ...write,
    id: 'putAgentMemory',
    method: 'PUT',
    path: AGENT,
    summary: "Replace the agent's notes; sessions that have begun keep what they saw",
    params: AgentParams,
    body: MemoryPut,
    responses: { 200: Memory },
    errors: ['not_found', 'conflict', 'invalid_state'],
  }),
  deleteAgentMemory: defineRoute({
    ...write,
    id: 'deleteAgentMemory',
    method: 'DELETE',
    path: AGENT,
    summary: "Empty the agent's notes",
    params: AgentParams,
    responses: { 200: MemoryDeleted },
    errors: ['not_found', 'invalid_state'],
  }),
  getMemory: defineRoute({
    ...read,
    id: 'getMemory',
    method: 'GET',
    path: SUBJECT,
    summary: 'What the agent has noted about a subject',
    params: SubjectParams,
    query: MemoryQuery,
    responses: { 200: Memory },
    errors: ['not_found'],
  }),
  putMemory: defineRoute({
    ...write,
    id: 'putMemory',
    method: 'PUT',
    path: SUBJECT,
    summary: 'Replace a document of a subject; sessions that have begun keep what they saw',
    params: SubjectParams,
    query: MemoryQuery,
    body: MemoryPut,
    responses: { 200: Memory },
    errors: ['not_found', 'conflict'],
  }),
  deleteMemory: defineRoute({
    ...write,
    id: 'deleteMemory',
    method: 'DELETE',
    path: SUBJECT,
    summary: 'Empty a document of a subject',
    params: SubjectParams,
    query: MemoryQuery,
    responses: { 200: MemoryDeleted },
    errors: ['not_found'],
  }),
};
