import { afterAll, expect, it } from 'vitest';
import { openClosedRoots } from '../../../src/login/detection/closed-roots.ts';
import { findElement } from '../../../src/login/detection/observe.ts';
import { planLogin } from '../../../src/login/detection/classify.ts';
import { observe, openTestBrowser, plan } from './pages.ts';

const testBrowser = await openTestBrowser();
afterAll(() => testBrowser?.[Symbol.asyncDispose]());

const LOGIN = { kind: 'login', reason: 'fill', username: 'u', password: 'p', submit: 's' };
const FIELDS = '<label>User name <input id=u></label><label>Password <input id=p type=password></label>';
const BUTTON = '<button id=s>Log in</button>';
const attach = (host: string, mode: string, inner: string) =>
  `document.getElementById('${host}').attachShadow({ mode: '${mode}' }).innerHTML = ${JSON.stringify(inner)};`;

it.runIf(testBrowser).each([
  ['open', `<div id=h></div><script>${attach('h', 'open', `<form>${FIELDS}${BUTTON}</form>`)}</script>`],
  ['closed', `<div id=h></div><script>${attach('h', 'closed', `<form>${FIELDS}${BUTTON}</form>`)}</script>`],
  [
    'closed in closed, each field by itself',
    `<div id=h></div><script>
      const outer = document.getElementById('h').attachShadow({ mode: 'closed' });
      outer.innerHTML = '<div><x-a></x-a><x-b></x-b><x-c></x-c></div>';
      const add = (name, inner) => { outer.querySelector(name).attachShadow({ mode: 'closed' }).innerHTML = inner; };
      add('x-a', '<label>User name <input id=u></label>');
      add('x-b', '<label>Password <input id=p type=password></label>');
      add('x-c', '<button id=s>Log in</button>');
    </script>`,
  ],
  ['declared and open', `<div><template shadowrootmode=open><form>${FIELDS}${BUTTON}</form></template></div>`],
  [
    'slotted fields under a button of the shadow',
    `<div id=h><div>${FIELDS}</div></div><script>${attach('h', 'open', `<form><slot></slot></form>${BUTTON}`)}</script>`,
  ],
])('finds a login in a shadow root: %s', async (_name, html) => {
  const page = await testBrowser!.open(`<!doctype html><body><h1>Log in</h1>${html}`);
  expect(await plan(page)).toMatchObject(LOGIN);
});

it.runIf(testBrowser)('finds a login in a closed shadow root that HTML declares, once it has been shown', async () => {
  const page = await testBrowser!.open(
    `<!doctype html><body><h1>Log in</h1><div><template shadowrootmode=closed><form>${FIELDS}${BUTTON}</form></template></div>`,
  );
  expect(await plan(page)).toMatchObject({ reason: 'nothing' });
  expect(await openClosedRoots(page)).toBe(1);
  expect(await openClosedRoots(page)).toBe(0);
  expect(await plan(page)).toMatchObject(LOGIN);
});

it.runIf(testBrowser)('hands out elements of closed roots that take real keys', async () => {
  const page = await testBrowser!.open(
    `<!doctype html><body><div id=h></div><script>${attach('h', 'closed', `<form>${FIELDS}${BUTTON}</form>`)}</script>`,
  );
  const { username } = planLogin(await observe(page));
  const field = await findElement(page, username ?? '');
  await field?.fill('ada');
  expect(await field?.inputValue()).toBe('ada');
});

const FRAME = `<!doctype html><body><form>${FIELDS}${BUTTON}</form>`;

it.runIf(testBrowser).each([
  ['of the same origin', 'https://site.example/frame', ''],
  ['of the same site', 'https://accounts.site.example/frame', ''],
  ['in a sandbox', 'https://site.example/frame', 'sandbox="allow-scripts allow-forms"'],
])('finds a login in a frame %s', async (_name, address, attributes) => {
  const page = await testBrowser!.open({
    '/': `<!doctype html><body><h1>Shop</h1><iframe src="${address}" ${attributes} width=400 height=300></iframe>`,
    [address]: FRAME,
  });
  await expect.poll(() => plan(page)).toMatchObject(LOGIN);
});

it.runIf(testBrowser)('finds a login in a frame without an address, within a frame', async () => {
  const inner = FRAME.replaceAll('"', '&quot;');
  const outer = `<body><iframe srcdoc="${inner}" width=380 height=250></iframe>`
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;');
  const page = await testBrowser!.open(`<!doctype html><body><iframe srcdoc="${outer}" width=400 height=300></iframe>`);
  await expect.poll(() => plan(page)).toMatchObject(LOGIN);
});

it.runIf(testBrowser).each([
  ['of another site', 'https://elsewhere.example/frame', 'width=400 height=300'],
  ['that nobody sees', 'https://site.example/frame', 'style="width:1px;height:1px"'],
])('looks into no frame %s', async (_name, address, attributes) => {
  const page = await testBrowser!.open({
    '/': `<!doctype html><body><h1>Shop</h1><iframe src="${address}" ${attributes}></iframe>`,
    [address]: FRAME,
  });
  await page.frames()[1]?.waitForLoadState();
  expect(await plan(page)).toMatchObject({ kind: 'none', reason: 'nothing' });
});

it.runIf(testBrowser)('never reads a value', async () => {
  const page = await testBrowser!.open(
    `<!doctype html><body><form><input id=u name=user value=ada-canary><input id=p type=password value=hush-canary><textarea name=t>text-canary</textarea><div contenteditable role=textbox>edit-canary</div><select name=s><option value=opt-canary selected>One</select><button id=s>Log in</button></form>`,
  );
  const observation = await observe(page);
  const { elements } = observation.frames[0]!;
  expect(elements.filter(({ filled }) => filled)).toHaveLength(4);
  const fields = elements.filter(({ control }) => control === 'field' || control === 'select');
  expect(JSON.stringify(fields)).not.toContain('canary');
});
