// Tests: test/login/help.test.ts
import { passKeys, passPointer } from './pointer.ts';
import { Sender, post } from './sender.ts';

type Asked = {
  kind: string;
  hint: string | null;
  options: { id: string; label: string }[];
  fields: string[];
  expiresAt: string;
  wrong: number;
};
type Login = { state: string; site: string; error: string | null; asked: Asked | null; token?: string };
type Frame = { image: string; width: number; height: number };

const WHAT: Record<string, string> = {
  captcha: 'The site wants to know that you are a person. Solve its check in the picture.',
  push: 'Approve the sign-in on your other device.',
  number_match: 'Open the app on your other device and enter this number:',
  security_key: 'The site waits for a security key. Choose another way in the picture, if it offers one.',
  choose_factor: 'Choose how to confirm that it is you.',
  choose_account: 'Choose the account or organization.',
  consent: 'The site asks whether to allow access.',
  terms: 'The site asks you to accept its terms.',
  email_code: 'Enter the code that the site has sent by email.',
  sms_code: 'Enter the code that the site has sent to your phone.',
  totp: 'Enter the code of your authenticator app.',
  magic_link: 'The site has sent a link by email.',
  human: 'The site shows a page that needs you. Go on in the picture.',
};
const ENDED: Record<string, string> = {
  succeeded: 'Signed in. You can close this page.',
  failed: 'The login has ended without a session. You can close this page.',
};

function get<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.querySelector(`#${id}`);
  if (!(found instanceof kind)) throw new Error(`#${id} is missing`);
  return found;
}

const view = get('view', HTMLDivElement);
const picture = get('picture', HTMLImageElement);
const live = get('live', HTMLElement);
const fault = get('fault', HTMLParagraphElement);
const codeForm = get('code-form', HTMLFormElement);
const code = get('code', HTMLInputElement);
const text = get('text', HTMLInputElement);
const drag = get('drag', HTMLButtonElement);
const zoom = get('zoom', HTMLButtonElement);
const done = get('done', HTMLButtonElement);

// The token changes while the page is open; the address that the browser shows stays.
const folder = location.pathname.slice(0, location.pathname.lastIndexOf('/') + 1);
let token = location.pathname.slice(folder.length);
const address = () => folder + token;

function showFault(message: string): void {
  fault.textContent = message;
  fault.hidden = message === '';
}

const sender = new Sender(address, (status) => {
  showFault(status === 429 ? 'The page of the site is slow. Wait a moment.' : 'The page did not take that.');
});

async function answer(body: object): Promise<void> {
  showFault('');
  const status = await post(`${address()}/answer`, body);
  if (status !== 204) showFault('The login did not take that. It may have gone on already.');
}

function showAsked(asked: Asked | null): void {
  const hint = get('hint', HTMLParagraphElement);
  hint.textContent = asked?.hint ?? '';
  hint.hidden = hint.textContent === '';
  hint.classList.toggle('long', hint.textContent.length > 12);
  const options = get('options', HTMLDivElement);
  options.hidden = (asked?.options.length ?? 0) === 0;
  options.replaceChildren(
    ...(asked?.options ?? []).map(({ id, label }) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = label;
      button.addEventListener('click', () => void answer({ option: id }));
      return button;
    }),
  );
  codeForm.hidden = asked?.fields.includes('code') !== true;
  done.hidden = asked?.fields.includes('done') !== true;
}

function showLogin({ state, site, asked, error, token: renewed }: Login): void {
  token = renewed ?? token;
  get('site', HTMLParagraphElement).textContent = site;
  const ended = ENDED[state];
  const wrong = (asked?.wrong ?? 0) > 0 ? 'That code was wrong. ' : '';
  const what = ended ?? (asked === null ? 'Going on…' : wrong + (WHAT[asked.kind] ?? WHAT['human']));
  get('what', HTMLParagraphElement).textContent = error === null ? what : `${what} (${error})`;
  showAsked(asked);
  if (ended === undefined) return;
  live.classList.add('over');
  get('tools', HTMLDivElement).hidden = true;
  showFault('');
  source.close();
}

const source = new EventSource(`${address()}/screen`);
source.addEventListener('login', (event: MessageEvent<string>) => showLogin(JSON.parse(event.data) as Login));
source.addEventListener('frame', (event: MessageEvent<string>) => {
  const { image, width, height } = JSON.parse(event.data) as Frame;
  if (picture.width !== width) picture.setAttribute('width', String(width));
  if (picture.height !== height) picture.setAttribute('height', String(height));
  picture.src = `data:image/jpeg;base64,${image}`;
});
source.addEventListener('error', () => {
  if (source.readyState === EventSource.CLOSED) showFault('The connection has ended. Ask for a new link.');
});

function setZoom(isOn: boolean): void {
  zoom.setAttribute('aria-pressed', String(isOn));
  view.classList.toggle('zoomed', isOn);
  // Forms stand in the middle of most pages.
  view.scrollLeft = (view.scrollWidth - view.clientWidth) / 2;
}

function isPressed(button: HTMLButtonElement): boolean {
  return button.getAttribute('aria-pressed') === 'true';
}

passPointer(view, picture, { sender, isDragging: () => isPressed(drag) });
passKeys(view, sender);
zoom.addEventListener('click', () => setZoom(!isPressed(zoom)));
drag.addEventListener('click', () => {
  drag.setAttribute('aria-pressed', String(!isPressed(drag)));
  view.classList.toggle('drag', isPressed(drag));
});
done.addEventListener('click', () => void answer({ done: true }));
codeForm.addEventListener('submit', (event) => {
  event.preventDefault();
  const given = code.value.trim();
  code.value = '';
  if (given !== '') void answer({ code: given });
});
get('text-form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  const given = text.value;
  text.value = '';
  if (given !== '') sender.send({ type: 'text', text: given });
});
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-key]')) {
  button.addEventListener('click', () => sender.send({ type: 'key', key: button.dataset['key'], modifiers: [] }));
}
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-scroll]')) {
  button.addEventListener('click', () =>
    sender.send({ type: 'wheel', x: 0.5, y: 0.5, dx: 0, dy: Number(button.dataset['scroll']) }),
  );
}
