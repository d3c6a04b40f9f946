import { z } from 'zod';
import { Automation, AutomationCreate, AutomationDeleted, AutomationPatch, AutomationRun } from '../automations.ts';
import { Id, AnyPage, SubjectId, anyListOf, cursorListOf } from '../../../platform/contract/common.ts';
import { defineRoute } from '../../../platform/contract/route.ts';
import { Session } from '../sessions.ts';
import { OrganizationAutomationsQuery, SubjectListQuery, SubjectSummary } from '../subjects.ts';

const AgentParams = z.object({ agentId: Id });
const SubjectParams = AgentParams.extend({ subjectId: SubjectId });
const AutomationParams = SubjectParams.extend({ automationId: Id });
const tag = 'Automations';
const read = { tag, scope: 'agents:read' } as const;
const write = { tag, scope: 'agents:write' } as const;
const PREFIX = '/v1/agents/{agentId}/users/{subjectId}/automations';
const ONE = `${PREFIX}/{automationId}` as const;

export const automationRoutes = {
  listOrganizationAutomations: defineRoute({
    ...read,
    id: 'listOrganizationAutomations',
    method: 'GET',
    path: '/v1/automations',
    summary: 'The automations of every agent and subject, newest first',
    query: OrganizationAutomationsQuery,
    responses: { 200: cursorListOf(Automation) },
    errors: [],
  }),
  listSubjects: defineRoute({
    ...read,
    tag: 'Sessions',
    id: 'listSubjects',
    method: 'GET',
    path: '/v1/subjects',
    summary: 'The subjects that have sessions, by agent, with what their sessions cost',
    query: SubjectListQuery,
    responses: { 200: cursorListOf(SubjectSummary) },
    errors: [],
  }),
  listAgentAutomations: defineRoute({
    ...read,
    id: 'listAgentAutomations',
    method: 'GET',
    path: '/v1/agents/{agentId}/automations',
    summary: 'The automations of every subject of an agent, newest first',
    params: AgentParams,
    query: AnyPage,
    responses: { 200: anyListOf(Automation) },
    errors: ['not_found'],
  }),
  listAutomations: defineRoute({
    ...read,
    id: 'listAutomations',
    method: 'GET',
    path: PREFIX,
    summary: 'The automations of one subject, newest first',
    params: SubjectParams,
    query: AnyPage,
    responses: { 200: anyListOf(Automation) },
    errors: ['not_found'],
  }),
  createAutomation: defineRoute({
    ...write,
    id: 'createAutomation',
    method: 'POST',
    path: PREFIX,
    summary: 'Run a prompt on a schedule, each occurrence in a fresh session',
    params: SubjectParams,
    body: AutomationCreate,
    responses: { 201: Automation },
    errors: ['not_found', 'invalid_state'],
  }),
  getAutomation: defineRoute({
    ...read,
    id: 'getAutomation',
    method: 'GET',
    path: ONE,
    summary: 'One automation',
    params: AutomationParams,
    responses: { 200: Automation },
    errors: ['not_found'],
  }),
  patchAutomation: defineRoute({
    ...write,
    id: 'patchAutomation',
    method: 'PATCH',
    path: ONE,
    summary: 'Change any of the fields; a new schedule counts from now',
    params: AutomationParams,
    body: AutomationPatch,
    responses: { 200: Automation },
    errors: ['not_found', 'invalid_state'],
  }),
  deleteAutomation: defineRoute({
    ...write,
    id: 'deleteAutomation',
    method: 'DELETE',
    path: ONE,
    summary: 'Stop future runs; the sessions of past ones stay',
    params: AutomationParams,
    responses: { 200: AutomationDeleted },
    errors: ['not_found'],
  }),
  pauseAutomation: defineRoute({
    ...write,
    id: 'pauseAutomation',
    method: 'POST',
    path: `${ONE}/pause`,
    summary: 'Stop scheduled occurrences until it is resumed',
    params: AutomationParams,
    responses: { 200: Automation },
    errors: ['not_found'],
  }),
  resumeAutomation: defineRoute({
    ...write,
    id: 'resumeAutomation',
    method: 'POST',
    path: `${ONE}/resume`,
    summary: 'Go on with the next occurrence, also after an error',
    params: AutomationParams,
    responses: { 200: Automation },
    errors: ['not_found', 'invalid_state'],
  }),
  triggerAutomation: defineRoute({
    ...write,
    id: 'triggerAutomation',
    method: 'POST',
    path: `${ONE}/trigger`,
    summary: 'Run it now, in any state; its schedule stays as it is',
    params: AutomationParams,
    responses: { 202: AutomationRun },
    errors: ['not_found', 'invalid_state'],
  }),
  listAutomationSessions: defineRoute({
    ...read,
    id: 'listAutomationSessions',
    method: 'GET',
    path: `${ONE}/sessions`,
    summary: 'The sessions of its runs, archived ones included, newest first',
    params: AutomationParams,
    query: AnyPage,
    responses: { 200: anyListOf(Session) },
    errors: ['not_found'],
  }),
};
