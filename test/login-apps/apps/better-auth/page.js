import { passkeyClient } from '@better-auth/passkey/client';
import { createAuthClient } from 'better-auth/client';
import { emailOTPClient, magicLinkClient, twoFactorClient } from 'better-auth/client/plugins';

const client = createAuthClient({ plugins: [emailOTPClient(), magicLinkClient(), twoFactorClient(), passkeyClient()] });
const INSIDE = '/account';

const find = (id) => document.getElementById(id);
const go = (path) => location.assign(path);

/** What becomes of a form's values; what goes wrong is shown. */
function onSubmit(id, send) {
  find(id)?.addEventListener('submit', async (event) => {
    event.preventDefault();
    find('error').textContent = '';
    const { error } = await send(Object.fromEntries(new FormData(event.target)));
    if (error) find('error').textContent = error.message;
  });
}

onSubmit('password', async ({ email, password }) => {
  const answer = await client.signIn.email({ email, password });
  if (answer.data) go(answer.data.twoFactorRedirect ? '/two-factor' : INSIDE);
  return answer;
});

onSubmit('authenticator', async ({ code, trust }) => {
  const answer = await client.twoFactor.verifyTotp({ code, trustDevice: trust === 'on' });
  if (answer.data) go(INSIDE);
  return answer;
});

onSubmit('send-code', async ({ email }) => {
  const answer = await client.emailOtp.sendVerificationOtp({ email, type: 'sign-in' });
  if (answer.data) {
    find('address').textContent = email;
    find('send-code').hidden = true;
    find('code').hidden = false;
  }
  return answer;
});

onSubmit('code', async ({ otp }) => {
  const answer = await client.signIn.emailOtp({ email: find('address').textContent, otp });
  if (answer.data) go(INSIDE);
  return answer;
});

// For the address that stands in the form.
find('link')?.addEventListener('click', async () => {
  const email = find('password').elements.email.value;
  const { error } = await client.signIn.magicLink({ email, callbackURL: INSIDE });
  find('error').textContent = error?.message ?? '';
  find('sent').hidden = Boolean(error);
});

onSubmit('signup', async ({ name, email, password }) => {
  const answer = await client.signUp.email({ name, email, password, callbackURL: INSIDE });
  find('sent').hidden = !answer.data;
  find('signup').hidden = Boolean(answer.data);
  return answer;
});

for (const button of document.querySelectorAll('[data-to]')) {
  button.addEventListener('click', () => go(button.dataset.to));
}

find('leave')?.addEventListener('click', async () => {
  await client.signOut();
  go('/login');
});

if (find('passkey')) {
  const { error } = await client.signIn.passkey();
  if (error) find('error').textContent = error.message;
  else go(INSIDE);
}

// As browsers offer passkeys among what they fill in.
if (find('password') && (await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.())) {
  void client.signIn.passkey({ autoFill: true });
}
