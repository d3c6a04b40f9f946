import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Automation } from '../../src/agents/contract/automations.ts';
import type { Vault } from '../../src/agents/contract/vaults.ts';
import type { ApiKey } from '../../src/platform/contract/keys.ts';
import { openConsole } from './open-console.ts';
import type { ConsoleServer, Visit } from './open-console.ts';

let site: ConsoleServer;
let visit: Visit;
let agent: Agent;

beforeAll(async () => {
  site = await openConsole();
  agent = await site.call<Agent>('POST', '/v1/agents', {
    name: 'reporter',
    modelName: 'script/demo',
    systemPrompt: 'Be brief.',
    skills: [],
    tools: [],
  });
  visit = await site.visit();
});
afterAll(async () => {
  await site.close();
});

test('a vault is made, and a credential that the server refuses is named', async () => {
  const { page, faults } = visit;
  const dialog = page.getByRole('dialog');
  await page.goto(`${site.url}/console/vaults`);
  await page.getByRole('button', { name: 'New vault' }).click();
  await dialog.getByLabel('Name').fill('Team');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'New credential' }).click();
  await dialog.getByLabel('Name').fill('Issues');
  await dialog.getByLabel('Address of the MCP server').fill('https://mcp.example.com/mcp');
  await dialog.getByLabel('Token').fill('not visible: ü');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('must hold visible ASCII only').waitFor();
  const { data } = await site.call<{ data: Vault[] }>('GET', '/v1/vaults');
  expect(data.map(({ displayName }) => displayName)).toEqual(['Team']);
  expect(faults).toEqual([]);
});

test('an automation is made, refused with the name of the field, changed and deleted', async () => {
  const { page, faults } = visit;
  const dialog = page.getByRole('dialog');
  await page.goto(`${site.url}/console/automations`);
  await page.getByRole('button', { name: 'New automation' }).click();
  await dialog.getByRole('combobox', { name: 'Agent' }).selectOption({ label: 'reporter' });
  await dialog.getByLabel('Subject').fill('team/7');
  await dialog.getByLabel('Name').fill('Weekly');
  await dialog.getByLabel('Prompt').fill('Write the report.');
  await dialog.getByLabel('Schedule').fill('0 9 * * 1');
  await dialog.getByLabel('Time zone').fill('Nowhere/Atall');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('must be an IANA time zone').waitFor();
  await dialog.getByLabel('Time zone').fill('Europe/Brussels');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name: /Weekly team\/7/ });
  await row.waitFor();
  await row.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Name').fill('Monthly');
  await dialog.getByLabel('Schedule').fill('0 9 1 * *');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /Monthly team\/7/ }).waitFor();
  const [automation] = (await site.call<{ data: Automation[] }>('GET', '/v1/automations')).data;
  expect(automation).toMatchObject({
    name: 'Monthly',
    schedule: '0 9 1 * *',
    timezone: 'Europe/Brussels',
    prompt: 'Write the report.',
  });
  await page
    .getByRole('row', { name: /Monthly/ })
    .getByRole('button', { name: 'Delete' })
    .click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Nothing runs on a schedule yet.').waitFor();
  expect(faults).toEqual([]);
});

test('a key is made with limits, changed and given a new secret', async () => {
  const { page, faults } = visit;
  const dialog = page.getByRole('dialog');
  await page.goto(`${site.url}/console/admin/keys`);
  await page.getByRole('button', { name: 'New key' }).click();
  await dialog.getByLabel('Name').fill('reader');
  await dialog.getByRole('combobox', { name: 'Role' }).selectOption('viewer');
  await dialog.getByLabel('Expires').fill('2126-01-31T09:00');
  await dialog.getByLabel('Models').fill('openai/*\nscript/demo');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('It is shown this once only.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const find = async () => {
    const { data } = await site.call<{ data: ApiKey[] }>('GET', '/v1/api-keys');
    return data.find(({ name }) => name === 'reader' || name === 'approver');
  };
  expect(await find()).toMatchObject({
    scopes: ['agents:read', 'services:read'],
    expiresAt: '2126-01-31T09:00:00.000Z',
    models: ['openai/*', 'script/demo'],
    tokensPerDay: null,
  });
  const row = page.getByRole('row', { name: /^reader/ });
  await row.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Name').fill('approver');
  await dialog.getByRole('combobox', { name: 'Role' }).selectOption('approver');
  await dialog.getByLabel('Expires').fill('');
  await dialog.getByLabel('Models').fill('');
  await dialog.getByLabel('Tokens a day').fill('1000');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const changed = page.getByRole('row', { name: /^approver/ });
  await changed.waitFor();
  expect(await find()).toMatchObject({
    scopes: ['agents:read', 'services:read', 'agents:approve'],
    expiresAt: null,
    models: null,
    tokensPerDay: 1000,
  });
  await changed.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByText('It is shown this once only.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect((await find())?.previousExpiresAt).not.toBeNull();
  expect(faults).toEqual([]);
});

test('sessions are filtered by day and cost, and the filters are in the address', async () => {
  const { page, faults } = visit;
  await site.call('POST', '/v1/sessions', { agentId: agent.id, subjectId: 'eve', title: 'Today' });
  await page.goto(`${site.url}/console/sessions`);
  const row = page.getByRole('row', { name: /Today/ });
  await row.waitFor();
  await page.getByLabel('To', { exact: true }).fill('2001-01-31');
  await page.getByText('No session matches.').waitFor();
  expect(new URL(page.url()).searchParams.get('to')).toContain('2001-01-31');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByLabel('From', { exact: true }).fill('2001-01-31');
  await row.waitFor();
  await page.getByLabel('Lowest cost').fill('1000');
  await page.getByText('No session matches.').waitFor();
  expect(faults).toEqual([]);
});

test('an organization is made with its first key, and the status of the server is shown', async () => {
  const { page, faults } = visit;
  const dialog = page.getByRole('dialog');
  await page.goto(`${site.url}/console/admin/organizations`);
  await page.getByRole('button', { name: 'New organization' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('not valid');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('must be 1 to 64 letters').waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill('acme');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('It is shown this once only.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /^acme/ }).waitFor();
  await page.goto(`${site.url}/console/admin/status`);
  await page.locator('.server-state', { hasText: 'Ready' }).waitFor();
  await page.getByRole('row', { name: /working database/ }).waitFor();
  expect(faults).toEqual([]);
});

test('an agent is made and its version is tagged', async () => {
  const { page, faults } = visit;
  const dialog = page.getByRole('dialog');
  await page.goto(`${site.url}/console/agents`);
  await page.getByRole('button', { name: 'New agent' }).click();
  await dialog.getByLabel('Name').fill('greeter');
  await dialog.getByLabel('Model').fill('script/demo');
  await dialog.getByLabel('System prompt').fill('Greet people.');
  await dialog.getByRole('combobox', { name: 'Tools' }).selectOption('none');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'greeter' }).waitFor();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByRole('button', { name: 'Tag' }).click();
  await dialog.getByLabel('Tag').fill('not valid');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('must be 1 to 64 letters').waitFor();
  await dialog.getByLabel('Tag').fill('staging');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /staging/ }).waitFor();
  expect(faults).toEqual([]);
});
