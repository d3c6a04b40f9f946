import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import type { Credential, Vault } from '../../src/agents/contract/vaults.ts';
import type { ApiKey } from '../../src/platform/contract/keys.ts';
import { openConsole } from './open-console.ts';
import type { ConsoleServer, Visit } from './open-console.ts';

let site: ConsoleServer;
let visit: Visit;

beforeAll(async () => {
  site = await openConsole();
  visit = await site.visit();
});
afterAll(() => site.close());

async function createAgent(name: string): Promise<Agent> {
  const tools = [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_ask' } } }];
  const body = { name, modelName: 'script/demo', systemPrompt: 'Be brief.', skills: [], tools };
  return await site.call<Agent>('POST', '/v1/agents', body);
}

test('a credential gets another token, and a vault is deleted once it is empty', async () => {
  const { page, faults } = visit;
  const dialog = page.getByRole('dialog');
  const vault = await site.call<Vault>('POST', '/v1/vaults', { displayName: 'Team' });
  const path = `/v1/vaults/${vault.id}/credentials`;
  const auth = { type: 'static_bearer', mcpServerUrl: 'https://mcp.example.com/mcp', token: 'first-token' };
  const { id } = await site.call<Credential>('POST', path, { displayName: 'Issues', auth });
  await page.goto(`${site.url}/console/vaults`);
  const own = page.getByRole('region', { name: 'Team' });
  await own.getByRole('button', { name: 'Credentials' }).click();
  const credential = own.getByRole('listitem').filter({ hasText: 'mcp.example.com' });
  await credential.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Name').fill('Tickets');
  await dialog.getByLabel('New token').fill('not visible: ü');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const token = dialog.getByLabel('New token');
  await dialog.getByText('must hold visible ASCII only').waitFor();
  expect(await token.getAttribute('aria-invalid')).toBe('true');
  expect((await site.call<Credential>('GET', `${path}/${id}`)).displayName).toBe('Issues');
  await token.fill('second-token');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await credential.filter({ hasText: 'Tickets' }).waitFor();
  // A vault with a credential is refused, and stays.
  await own.getByRole('button', { name: 'Delete' }).first().click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alert').waitFor();
  expect((await site.call<{ data: Vault[] }>('GET', '/v1/vaults')).data).toHaveLength(1);
  await credential.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await own.getByText('No credential is in this vault.').waitFor();
  await own.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There is no vault yet.').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('a tag is deleted, and one that somebody else has deleted is named', async () => {
  const { page, faults } = visit;
  const { id } = await createAgent('tagged');
  for (const name of ['staging', 'canary']) {
    await site.call('PUT', `/v1/agents/${id}/tags/${name}`, { version: 0 });
  }
  await page.goto(`${site.url}/console/agents/${id}/versions`);
  const find = (name: string) => page.getByRole('button', { name: `Delete the tag ${name}` });
  await find('staging').click();
  await find('staging').waitFor({ state: 'detached' });
  await site.call('DELETE', `/v1/agents/${id}/tags/canary`);
  await find('canary').click();
  await page.getByRole('alert').waitFor();
  expect(faults).toEqual([]);
});

test('an agent is archived after a question', async () => {
  const { page, faults } = visit;
  const dialog = page.getByRole('dialog');
  const { id } = await createAgent('retired');
  await page.goto(`${site.url}/console/agents/${id}/overview`);
  await page.getByRole('button', { name: 'Archive' }).click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect((await site.call<Agent>('GET', `/v1/agents/${id}`)).status).toBe('active');
  await page.getByRole('button', { name: 'Archive' }).click();
  await dialog.getByRole('button', { name: 'Archive' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByRole('button', { name: 'Archive' }).count()).toBe(0);
  expect((await site.call<Agent>('GET', `/v1/agents/${id}`)).status).toBe('archived');
  expect(faults).toEqual([]);
});

test('a standing approval is revoked, and the tool is asked for again', async () => {
  const { page, faults } = visit;
  const { id: agentId } = await createAgent('careful');
  const session = await site.call<Session>('POST', '/v1/sessions', { agentId, subjectId: 'ada', title: 'Careful' });
  const read = () => site.call<Session>('GET', `/v1/sessions/${session.id}`);
  const say = (text: string) =>
    site.call('POST', `/v1/sessions/${session.id}/events`, {
      events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
    });
  await say('run: date');
  await page.goto(`${site.url}/console/sessions/${session.id}`);
  await page.getByRole('button', { name: /^Always/ }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /always/i })
    .click();
  await expect.poll(async () => (await read()).status).toBe('idle');
  await page.goto(`${site.url}/console/agents/${agentId}/approvals?subject=ada`);
  await page
    .getByRole('row', { name: /^terminal/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await page.getByText('No tool is allowed always for this subject.').waitFor();
  await say('run: date');
  await expect.poll(async () => (await read()).status).toBe('waiting_on_human');
  expect(faults).toEqual([]);
});

test('a key that is refused names the field, and one revoked elsewhere is not rotated', async () => {
  const { page, faults } = visit;
  const dialog = page.getByRole('dialog');
  const { id } = await site.call<ApiKey>('POST', '/v1/api-keys', { name: 'worker', scopes: ['agents:read'] });
  await page.goto(`${site.url}/console/admin/keys`);
  const row = page.getByRole('row', { name: /^worker/ });
  await row.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Models').fill('x'.repeat(501));
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => dialog.getByLabel('Models').getAttribute('aria-invalid')).toBe('true');
  await dialog.getByLabel('Models').fill('script/demo');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /^worker .*models: script\/demo/ }).waitFor();
  await row.getByRole('button', { name: 'Rotate' }).click();
  await site.call('DELETE', `/v1/api-keys/${id}`);
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(await dialog.getByText('It is shown this once only.').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('organizations and the status of a server that has ended say so', async () => {
  const own = await openConsole();
  const { page, context, faults } = await own.visit();
  await page.goto(`${own.url}/console/admin/organizations`);
  await page.getByRole('button', { name: 'New organization' }).click();
  await own.server.kill();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('acme');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
  // What was typed is still there.
  expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('acme');
  expect(faults).toEqual([]);
  await context.close();
  await own.close();
});
