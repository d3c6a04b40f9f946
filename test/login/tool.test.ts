import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findToolsetPolicy } from '../../src/agents/loop/tool-calls/policy.ts';
import { buildWebsiteLoginTool } from '../../src/agents/tools/website-login.ts';
import type { Tool } from '../../src/agents/tools/tool.ts';
import { buildWebsiteAccounts } from '../../src/login/accounts.ts';
import { startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { sentEmails } from '../support/login-sites/steps.ts';
import { SIGNUP_SITE } from '../support/login-sites/failures.ts';
import { openToolSession } from '../support/tools.ts';
import { getChromium, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

describe('website_login', () => {
  let sites: LoginSites;
  let login: TestLogin;
  let session: Awaited<ReturnType<typeof openToolSession>>;
  let tool: Tool;
  let organizationId: string;

  beforeAll(async () => {
    sites = await startLoginSites([SIGNUP_SITE]);
    login = await startTestLogin();
    session = await openToolSession();
    tool = buildWebsiteLoginTool(buildWebsiteAccounts(login.ports));
    const { rows } = await login.db.query<{ id: string }>(`SELECT id FROM organizations WHERE name = 'default'`);
    organizationId = rows[0]!.id;
  });
  afterAll(async () => {
    await session.close();
    await login.close();
    await sites.close();
  });

  const store = async (email: string): Promise<string> => {
    const body = { signup_method: 'email', domain: sites.url('signup'), cred: { email } };
    const asked = await login.post('/api/signup', body);
    expect(asked.body['error']).toBe('verification_required');
    const { challengeId } = asked.body['details'] as { challengeId: string };
    const done = await login.post(`/api/challenges/${challengeId}`, { link: sentEmails.at(-1)?.link });
    return String(done.body['credentialId']);
  };
  const call = (input: Record<string, unknown>, over = {}) => session.call(tool, input, { organizationId, ...over });

  test('is off unless its toolset is enabled by name', () => {
    const isOn = (configs: { name: 'website_login'; enabled: boolean }[]) =>
      findToolsetPolicy([{ type: 'agent_toolset', configs }], 'website_login').enabled;
    expect(isOn([])).toBe(false);
    expect(isOn([{ name: 'website_login', enabled: true }])).toBe(true);
  });

  test('hands over the session as a file that a browser takes, and never the password', async () => {
    expect((await call({ site: sites.url('signup') })).value).toMatchObject({
      error: 'No credential is stored for 127.0.0.1.',
    });
    const credentialId = await store('robot@example.com');
    const { isError, text, value } = await call({ site: sites.url('signup') });
    expect([isError, value['credential_id']]).toEqual([false, credentialId]);
    expect(await login.ports.registry!.metrics()).toContain(
      'capstan_login_calls_total{operation="tool",outcome="ok",cache="hit"} 1',
    );
    expect(value['storage_state']).toBe(`${session.sandbox.workspace}/logins/${credentialId}.json`);
    const file = await session.read(`logins/${credentialId}.json`);
    const [token = 'none'] = sites.accounts('signup').sessions.keys();
    expect(file).toContain(token);
    const password = sites.accounts('signup').passwords.get('robot@example.com') ?? '';
    expect(password.length).toBeGreaterThanOrEqual(10);
    for (const secret of [password, JSON.stringify(password).slice(1, -1)]) expect(text + file).not.toContain(secret);
    expect(text).not.toContain(token);
    expect((await session.sandbox.stat(`logins/${credentialId}.json`))?.type).toBe('file');
    expect(await session.shell(`stat -c %a logins/${credentialId}.json`)).toContain('600');

    const browser = await chromium.launch({
      executablePath: getChromium(),
      chromiumSandbox: process.getuid?.() !== 0,
    });
    const context = await browser.newContext({ storageState: JSON.parse(file) as never });
    const page = await context.newPage();
    await page.goto(sites.protectedUrl('signup'));
    expect(await page.textContent('body')).toContain('robot@example.com');
    await browser.close();
  });

  test('asks which one where a site has several, and gives nothing of other organizations', async () => {
    const second = await store('second@example.com');
    const several = await call({ site: '127.0.0.1' });
    expect([several.isError, String(several.value['error'])]).toEqual([true, expect.stringContaining(second)]);
    expect((await call({ site: '127.0.0.1', credential_id: second })).value['credential_id']).toBe(second);
    const elsewhere = await call({ site: 'example.com', credential_id: second });
    expect(elsewhere.value['error']).toBe('No credential is stored for example.com.');
    await login.makeKey('other');
    const { rows } = await login.db.query<{ id: string }>(`SELECT id FROM organizations WHERE name = 'other'`);
    const foreign = await call({ site: '127.0.0.1', credential_id: second }, { organizationId: rows[0]!.id });
    expect(foreign.value['error']).toBe('No credential is stored for 127.0.0.1.');
  });

  test('stops at an interrupt', async () => {
    const signal = AbortSignal.abort(new Error('interrupted'));
    await expect(call({ site: '127.0.0.1', credential_id: 'x' }, { signal })).resolves.toMatchObject({ isError: true });
    const [only] = (await login.call('GET', '/api/credentials')).body['data'] as { credentialId: string }[];
    const wanted = { site: '127.0.0.1', credential_id: only!.credentialId };
    await expect(call(wanted, { signal })).rejects.toThrow('interrupted');
  });
});
