import { expect, it } from 'vitest';
import { explainRefusal } from '../../../src/agents/api/approvers.ts';
import { ROLE_SCOPES, expandKeyScopes } from '../../../src/platform/contract/roles.ts';
import type { Role } from '../../../src/platform/contract/roles.ts';
import type { Scope } from '../../../src/platform/contract/keys.ts';

const person = (role: Role, groups: string[] = []) => ({
  scopes: ROLE_SCOPES[role],
  keyId: 'usr_1',
  user: { id: 'usr_1', email: 'Mia@acme.example', name: 'Mia', role, groups },
});
const key = (...scopes: Scope[]) => ({ scopes: expandKeyScopes(scopes), keyId: 'key_1', user: null });
const rule = { approvers: null, separationOfDuties: false, requestedBy: null };
const only = (...approvers: string[]) => ({ ...rule, approvers });

it.each([
  [person('approver'), only('role:approver'), true],
  [person('admin'), only('role:approver'), true],
  [person('approver'), only('role:operator'), false],
  [person('owner'), only('group:sre'), false],
  [person('viewer', ['sre']), only('role:admin', 'group:sre'), true],
  [person('viewer'), only('user:mia@ACME.example'), true],
  [person('viewer'), only('user:usr_1'), true],
  [person('owner'), only('user:eve@acme.example'), false],
  [key('agents:approve'), only('role:approver'), true],
  [key('agents:approve'), only('role:builder'), false],
  [key('admin'), only('role:owner'), true],
  [key('admin'), only('group:sre', 'user:key_1'), false],
  [key('agents:read'), rule, true],
])('knows who is named', (caller, named, isAllowed) => {
  expect(explainRefusal(caller, named, 'ada') === undefined).toBe(isAllowed);
});

it.each([
  [person('owner'), { type: 'user', id: 'usr_1' }, 'ada', false],
  [person('owner'), { type: 'key', id: 'key_1' }, 'ada', true],
  [person('owner'), null, 'mia@acme.example', false],
  [person('owner'), null, 'usr_1', false],
  [key('admin'), { type: 'key', id: 'key_1' }, 'ada', false],
  [key('admin'), { type: 'key', id: 'key_2' }, 'ada', true],
  [key('admin'), null, 'ada', true],
] as const)('keeps duties apart', (caller, requestedBy, subjectId, isAllowed) => {
  const apart = { ...rule, separationOfDuties: true, requestedBy };
  expect(explainRefusal(caller, apart, subjectId) === undefined).toBe(isAllowed);
});
