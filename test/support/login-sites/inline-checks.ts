import { PASSWORD, page, serveAccount } from './server.ts';
import type { Accounts, Reply, SiteKind, Visit } from './server.ts';

/** What a page does with a field that is checked, and how its form is sent. */
type Checks = {
  /** attributes of the password field, from which its script reads the delay */
  declared?: string;
  /** the script also checks the user name, and the password while it is typed */
  eager?: boolean;
  /** the status of a check of the password */
  status?: number;
  /** the check puts an empty field in the place of the password */
  empties?: boolean;
  /** the form is sent by a script */
  byScript?: boolean;
  /** the answer to the submit waits for a check of the whole password */
  isSlow?: boolean;
  /** a script submits the form once the password is whole */
  submitsItself?: boolean;
  /** a check after the submit ends its session, as where each request writes the session back */
  loses?: boolean;
};

const script = ({ declared, eager, empties, byScript, submitsItself }: Checks, { base }: Visit) => `<script>
  const form = document.forms[0];
  const post = (path, body) => fetch('${base}' + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  let timer, checked = '', isBusy = false;
  const check = async (field) => {
    if (field.value === checked) return;
    checked = field.value;
    const { name, value } = field;
    await post('/check', { [name]: value });
    await post('/checked', { [name]: value.length + '' });
    if (${empties === true} && name === 'password') {
      field.outerHTML = '<input type="password" name="password">';
      watch();
    }
  };
  const watch = () => {
    const { password, username } = form.elements;
    const plan = (ms) => { clearTimeout(timer); timer = setTimeout(check, ms, password); };
    if (${declared !== undefined || eager === true}) password.addEventListener('input', () => plan(${eager === true ? 0 : 1500}));
    // A delay that ends after the submit.
    else form.addEventListener('submit', () => plan(0));
    if (${eager === true}) username.addEventListener('change', () => check(username));
  };
  watch();
  if (${submitsItself === true}) form.elements.password.addEventListener('input', ({ target }) => {
    if (target.value.length === ${PASSWORD.length}) form.requestSubmit();
  });
  if (${byScript === true}) form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (form.elements.password.value === '' || isBusy) return;
    isBusy = true;
    const answer = await post('/session', { username: form.elements.username.value, password: form.elements.password.value });
    if (answer.ok) location = '${base}/account';
    else {
      form.elements.password.value = '';
      isBusy = false;
      document.querySelector('h1').insertAdjacentHTML('afterend', '<p role="alert">Wrong user name or password.</p>');
    }
  });</script>`;

const form = (checks: Checks, { base }: Visit, message: string) => `<h1>Sign in</h1>${message}
  <form method="post" action="${base}/login"><label>E-mail <input type="text" name="username"></label>
  <label>Password <input type="password" name="password" ${checks.declared ?? ''}></label><button>Sign in</button></form>`;

/** Waits for the answer to the check of a whole password, or remembers it. */
function openChecks() {
  let isChecked = false;
  let resume = () => {};
  return {
    note() {
      isChecked = true;
      resume();
    },
    reset() {
      isChecked = false;
    },
    whole: () => (isChecked ? Promise.resolve() : new Promise<void>((resolve) => (resume = resolve))),
  };
}

function build(name: string, checks: Checks): SiteKind {
  const seen = openChecks();
  let submitted = false;
  const submit = async (accounts: Accounts, values: Record<string, string>) => {
    const { username = '', password = '' } = values;
    submitted = true;
    const isRight = accounts.check(username, password);
    const cookie = isRight ? accounts.begin(username) : undefined;
    if (checks.isSlow === true) await seen.whole();
    return cookie;
  };
  const answerCheck = ({ path, json }: Visit, accounts: Accounts): Reply | undefined => {
    if (path === '/check') {
      if (submitted && checks.loses === true) accounts.sessions.clear();
      return { status: checks.status ?? 200, body: { field: 'checked' } };
    }
    if (path !== '/checked') return undefined;
    if (Number(json['password'] ?? 0) === PASSWORD.length) seen.note();
    return { status: 204 };
  };
  return {
    name,
    async serve(visit, accounts): Promise<Reply> {
      const route = `${visit.method} ${visit.path}`;
      if (route === 'GET /login') {
        if (!visit.query.has('failed')) {
          seen.reset();
          submitted = false;
        }
        const message = visit.query.has('failed') ? '<p role="alert">Wrong user name or password.</p>' : '';
        return { body: page('Sign in', form(checks, visit, message) + script(checks, visit)) };
      }
      const checked = answerCheck(visit, accounts);
      if (checked !== undefined) return checked;
      if (visit.path === '/session') {
        const cookie = await submit(accounts, visit.json);
        return cookie === undefined ? { status: 401, body: {} } : { body: {}, headers: { 'set-cookie': cookie } };
      }
      if (route === 'POST /login') {
        const cookie = await submit(accounts, Object.fromEntries(visit.form));
        if (cookie === undefined) return { to: `${visit.base}/login?failed=1` };
        return { to: `${visit.base}/account`, headers: { 'set-cookie': cookie } };
      }
      return serveAccount(visit, accounts) ?? { status: 404 };
    },
  };
}

const HTMX = 'hx-post="/check" hx-trigger="input changed delay:1500ms"';

/** Sites whose scripts send typed values to be checked before the form is submitted, or beside it. */
export const INLINE_CHECK_SITES: readonly SiteKind[] = [
  build('late-check-refused', { isSlow: true, status: 403 }),
  build('late-check-of-script', { isSlow: true, byScript: true, status: 403 }),
  build('check-loses-session', { declared: HTMX, isSlow: true, loses: true }),
  build('check-empties-field', { declared: HTMX, empties: true }),
  build('submits-itself', { submitsItself: true, byScript: true }),
  build('eager-checks', { eager: true, status: 422 }),
  build('eager-checks-of-script', { eager: true, status: 422, byScript: true }),
];
