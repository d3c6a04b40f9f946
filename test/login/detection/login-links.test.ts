import { afterAll, expect, it } from 'vitest';
import { planLogin } from '../../../src/login/detection/classify.ts';
import { observe, openTestBrowser, plan } from './pages.ts';

const testBrowser = await openTestBrowser();
afterAll(() => testBrowser?.[Symbol.asyncDispose]());

const FORM = '<form><input id=u name=username><input id=p type=password><button id=s>Log in</button></form>';

it.runIf(testBrowser).each([
  [
    'a link in the header',
    `<header><a id=r href=/join>Sign up</a><a id=o href=/login>Sign in</a></header><h1>Shop</h1>`,
    ['o'],
  ],
  [
    'a button that opens a dialog',
    `<nav><button id=o>Log in</button><button id=x>Search</button></nav><dialog>${FORM}</dialog>`,
    ['o'],
  ],
  [
    'a picture of a person',
    `<nav><a href="/account/login" id=o aria-label="Log in"><svg width=20 height=20></svg></a></nav>`,
    ['o'],
  ],
  ['styled text', `<header><span id=o onclick="go()">Anmelden</span></header>`, ['o']],
  [
    'the way by e-mail among other parties',
    `<h1>Welcome</h1><button id=g>Continue with Google</button><button id=a>Continue with Apple</button><button id=o>Continue with email</button>`,
    ['o'],
  ],
  ['nothing but other parties', `<h1>Welcome</h1><button id=g>Sign in with Google</button>`, []],
  ['a link that leaves for another program', `<a id=o href="mailto:login@site.example">Log in</a>`, []],
])('opens: %s', async (_name, html, loginLinks) => {
  const page = await testBrowser!.open(`<!doctype html><body>${html}`);
  const found = await plan(page);
  expect(found.loginLinks).toEqual(loginLinks);
  expect(found.reason).toBe(loginLinks.length > 0 ? 'open' : 'nothing');
});

it.runIf(testBrowser)('finds the login once the dialog is open', async () => {
  const page = await testBrowser!.open(
    `<!doctype html><body><button id=o onclick="document.querySelector('dialog').showModal()">Log in</button><dialog>${FORM}</dialog>`,
  );
  await page.click('#o');
  expect(await plan(page)).toMatchObject({ kind: 'login', reason: 'fill', username: 'u', password: 'p', submit: 's' });
});

const BANNER = (inner: string, style = '') =>
  `<div id=banner class="cookie-banner" style="position:fixed;inset:0;background:#fff;z-index:9;${style}"><p>We use cookies.</p>${inner}</div>`;

it.runIf(testBrowser).each([
  ['a refusal before a consent', BANNER('<button id=a>Accept all</button><button id=d>Reject all</button>'), ['d']],
  [
    'a consent where there is nothing else',
    BANNER('<button id=d>Alle akzeptieren</button><a href=/privacy>Datenschutz</a>'),
    ['d'],
  ],
  ['a cross', BANNER('<button id=d class=close aria-label=Close>×</button>'), ['d']],
  ['nothing that sends it away', BANNER('<a href=/privacy>Privacy</a>'), [undefined]],
])('sends a banner away by %s', async (_name, banner, dismiss) => {
  const page = await testBrowser!.open(`<!doctype html><body>${FORM}${banner}`);
  expect(await plan(page)).toMatchObject({ kind: 'login', reason: 'fill', username: 'u', password: 'p', dismiss });
});

it.runIf(testBrowser)('leaves a banner alone that covers nothing of the login', async () => {
  const page = await testBrowser!.open(
    `<!doctype html><body>${FORM}${BANNER('<button>Accept</button>', 'inset:auto 0 0 0;height:60px')}`,
  );
  expect(await plan(page)).toMatchObject({ reason: 'fill', dismiss: [] });
});

it.runIf(testBrowser)('does not take a floating label for a cover', async () => {
  const page = await testBrowser!.open(
    `<!doctype html><body><form><div style="position:relative"><input id=u><span style="position:absolute;left:0;top:0;width:100%;height:100%">User name</span></div><div style="position:relative"><input id=p type=password><label for=p style="position:absolute;inset:0">Password</label></div><button id=s>Log in</button></form>`,
  );
  expect(await plan(page)).toMatchObject({ username: 'u', password: 'p', dismiss: [] });
});

it.runIf(testBrowser)('keeps the ids of elements from one look to the next', async () => {
  const page = await testBrowser!.open(`<!doctype html><body>${FORM}`);
  const ids = async () => (await observe(page)).frames[0]!.elements.map(({ id }) => id);
  const before = await ids();
  await page.evaluate(`document.body.prepend(document.createElement('input'))`);
  const after = await ids();
  expect(after).toHaveLength(before.length + 1);
  expect(after).toEqual(expect.arrayContaining(before));
});

it.runIf(testBrowser)('distinguishes sign-in methods by their requirements', async () => {
  const page = await testBrowser!.open(
    `<!doctype html><body>${FORM}<button>Email me a code</button><button>Email me a link</button>
     <button>Use your password</button><button>Continue with email</button><button>Sign in with a passkey</button>`,
  );
  const { loginLinks } = planLogin(await observe(page));
  const methods = loginLinks.filter(({ kind }) => kind === 'method');
  expect(methods).toHaveLength(4);
  expect(new Set(methods.map(({ method }) => method))).toEqual(new Set(['code', 'link', 'password', undefined]));
});
