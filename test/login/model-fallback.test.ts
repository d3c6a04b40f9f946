import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openInference } from '../../src/inference/inference.ts';
import type { Inference } from '../../src/inference/model.ts';
import { FORM_SITES } from '../support/login-sites/forms.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { PAGE_SECRETS, UNDETECTED_SITES } from '../support/login-sites/undetected.ts';
import { startModelServer } from '../support/model-server/server.ts';
import type { ModelServer } from '../support/model-server/server.ts';
import { byPassword, replay, startTestLogin } from './harness.ts';
import type { Answer, TestLogin } from './harness.ts';

type Item = { id: string; part: number; is: string; type?: string; name?: string; label?: string };
type Reply = string | Record<string, unknown>;

let sites: LoginSites;
let models: ModelServer;
let inference: Inference;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites([...UNDETECTED_SITES, ...FORM_SITES.filter(({ name }) => name === 'classic')]);
  models = await startModelServer();
  const providers = { acme: { format: 'chat-completions', baseUrl: models.url, timeoutSeconds: 5 } } as const;
  inference = openInference({ providers, models: {}, log: pino({ level: 'silent' }) });
  login = await startTestLogin({ fallback: { inference, model: 'acme/small' } });
});
afterAll(async () => {
  await login.close();
  await inference.close();
  await models.close();
  await sites.close();
});
beforeEach(() => {
  sites.reset();
  models.requests.length = 0;
});

/** The model's input in the last call. */
const readItems = (): Item[] => {
  const { messages } = models.requests.at(-1)!.body as { messages: { role: string; content: unknown }[] };
  const { content } = messages.at(-1)!;
  return JSON.parse(typeof content === 'string' ? content : (content as { text: string }[])[0]!.text) as Item[];
};

const answerWith = (choose: (items: Item[]) => Reply) =>
  models.script(() => {
    const answer = choose(readItems());
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    return { reply: { content: [{ type: 'text', text }] } };
  });

const signIn = (name: string, username = USER) =>
  login.post('/api/login', byPassword(sites.url(name), username, PASSWORD, { useCache: false }));
const find = (items: Item[], name: string, part?: number) =>
  items.find((item) => item.name === name && (part === undefined || item.part === part))?.id ?? null;

async function expectSignedIn(name: string, { status, body }: Answer): Promise<void> {
  expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
  const page = await replay(sites.protectedUrl(name), body as { cookies: { name: string; value: string }[] });
  expect(await page.text()).toContain('Protected');
  expect(sites.accounts(name).attempts).toEqual([{ username: USER, ok: true }]);
  expect(models.requests).toHaveLength(1);
}

describe('a page that says nothing of a login', () => {
  test('is signed in to where a model finds the field, by the structure of the page alone', async () => {
    answerWith((items) => ({ username: find(items, 'who'), password: null, submit: null }));
    await expectSignedIn('odd-words', await signIn('odd-words'));
    const sent = JSON.stringify(models.requests[0]?.body);
    for (const secret of [...PAGE_SECRETS, USER, PASSWORD, 'Correct-horse7', '127.0.0.1', 'Brillig']) {
      expect(sent).not.toContain(secret);
    }
    expect(readItems().map(({ is, label }) => [is, label])).toEqual([
      ['field', 'Zmurk'],
      ['button', 'Plonk'],
    ]);
    const text = await login.ports.registry!.metrics();
    expect(text).toContain('capstan_login_model_calls_total{outcome="picked"} 1');
    expect(text).toMatch(/capstan_login_model_tokens_total\{direction="input"\} [1-9]/);
  });

  test('is left alone where no model answers', async () => {
    models.script(() => ({ status: 400, body: '{"error":{"message":"no"}}' }));
    expect((await signIn('odd-words')).body['error']).toBe('login_form_not_found');
    expect(await login.ports.registry!.metrics()).toContain('capstan_login_model_calls_total{outcome="failed"} 1');
  });
});

describe('two logins', () => {
  test('are distinguished', async () => {
    answerWith((items) => {
      const part = items.find(({ name }) => name === 'in')!.part;
      return { username: find(items, 'who', part), password: find(items, 'secret', part), submit: find(items, 'in') };
    });
    await expectSignedIn('two-logins', await signIn('two-logins'));
    expect(find(readItems(), 'who')).not.toBeNull();
  });

  test.each<[string, (items: Item[]) => Reply]>([
    ['an id that was not sent', () => ({ username: 'e99', password: null, submit: null })],
    ['an id of the page', () => ({ username: 'f0.1', password: null, submit: null })],
    ['more than was asked for', (items) => ({ username: items[0]!.id, password: null, submit: null, type: PASSWORD })],
    ['text', () => 'I would click on Plonk.'],
    ['no login', () => ({ username: null, password: null, submit: null })],
    ['a password into a field that shows it', (items) => ({ username: null, password: items[0]!.id, submit: null })],
    ['a button as a field', (items) => ({ username: items[2]!.id, password: null, submit: null })],
  ])('are left alone where the model answers with %s', async (_name, choose) => {
    answerWith(choose);
    const { status, body } = await signIn('two-logins');
    expect([status, body['error']]).toEqual([422, 'ambiguous_form']);
    expect(models.requests).toHaveLength(1);
    expect(sites.accounts('two-logins').attempts).toEqual([]);
  });

  test('are not mixed', async () => {
    answerWith((items) => {
      const [first, second] = items.filter(({ name }) => name === 'secret');
      return { username: find(items, 'who', first!.part), password: second!.id, submit: null };
    });
    expect((await signIn('two-logins')).body['error']).toBe('ambiguous_form');
    expect(sites.accounts('two-logins').attempts).toEqual([]);
  });
});

test('what a page has for other purposes, hides, or shows of other sites is never offered to a model', async () => {
  // The only remaining field submits to another site.
  answerWith((items) => ({ username: items[0]!.id, password: null, submit: null }));
  const { status, body } = await signIn('trap');
  expect([status, body['error'], body['details']]).toEqual([400, 'unsafe_domain', { reason: 'cross_site_form' }]);
  expect(readItems().map(({ name }) => name)).toEqual(['who', undefined]);
  for (const name of ['trap', 'two-logins']) expect(sites.accounts(name).attempts).toEqual([]);
});

test('nothing is asked where detection is sure or nobody sees the form, nor where no model is named', async () => {
  answerWith(() => 'never');
  expect((await signIn('classic')).status).toBe(200);
  const without = await startTestLogin();
  const refused = await without.post('/api/login', byPassword(sites.url('two-logins'), USER, PASSWORD));
  expect((await signIn('unseen')).body['details']).toMatchObject({ reason: 'hidden_fields' });
  expect(refused.body['error']).toBe('ambiguous_form');
  await without.close();
  expect(models.requests).toEqual([]);
});
