const ALERT = '<p role="alert" id="error"></p>';
const NAME = 'autocomplete="username webauthn" required';

/** Pages of the site, by path. All input goes through the client's script. */
export const PAGES: Readonly<Record<string, { title: string; body: string }>> = {
  '/': { title: 'Board', body: '<h1>Board</h1><a href="/login">Sign in</a>' },
  '/login': {
    title: 'Sign in',
    body: `<h1>Sign in</h1>
<form id="password">
  <label>E-mail <input name="email" type="email" ${NAME}></label>
  <label>Password <input name="password" type="password" autocomplete="current-password webauthn" required></label>
  <button>Sign in</button>
</form>${ALERT}
<button type="button" data-to="/login/passkey">Sign in with a passkey</button>
<button type="button" data-to="/login/code">Email me a code</button>
<button type="button" id="link">Email me a link</button>
<p id="sent" hidden>Check your inbox: we have sent you a link to sign in with.</p>
<a href="/signup">Create an account</a>`,
  },
  '/login/passkey': {
    title: 'Sign in with a passkey',
    body: `<h1>Sign in</h1><p id="passkey">Your browser asks for your passkey.</p>${ALERT}`,
  },
  '/login/code': {
    title: 'Sign in with a code',
    body: `<h1>Sign in</h1>
<form id="send-code"><label>E-mail <input name="email" type="email" ${NAME}></label><button>Continue</button></form>
<form id="code" hidden>
  <p>We have sent a code to <span id="address"></span>.</p>
  <label>Code <input name="otp" inputmode="numeric" autocomplete="one-time-code" required></label>
  <button>Verify</button>
</form>${ALERT}`,
  },
  '/two-factor': {
    title: 'Two-factor authentication',
    body: `<h1>Two-factor authentication</h1>
<form id="authenticator">
  <p>Enter the code of your authenticator app.</p>
  <label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required></label>
  <label><input type="checkbox" name="trust"> Trust this device for 30 days</label>
  <button>Verify</button>
</form>${ALERT}`,
  },
  '/signup': {
    title: 'Create an account',
    body: `<h1>Create an account</h1>
<form id="signup">
  <label>Name <input name="name" autocomplete="name" required></label>
  <label>E-mail <input name="email" type="email" autocomplete="email" required></label>
  <label>Password <input name="password" type="password" autocomplete="new-password" minlength="8" required></label>
  <button>Create account</button>
</form>
<p id="sent" hidden>Almost done: we have sent you an email. Follow its link to confirm your address.</p>${ALERT}
<a href="/login">Sign in</a>`,
  },
};

export function showPage({ title, body }: { title: string; body: string }): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>
<body>${body}<script type="module" src="/page.js"></script></body></html>`;
}

/** Visible only when signed in. */
export function showAccount(email: string): string {
  const body = `<h1>Minutes of the board</h1><p>For ${email}</p><button type="button" id="leave">Sign out</button>`;
  return showPage({ title: 'Account', body });
}
