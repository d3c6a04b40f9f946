import { NOTHING } from './pages.ts';
import type { Case } from './pages.ts';

/** Pages by purpose. */
export const KINDS: readonly Case[] = [
  [
    'user name first',
    `<form><h1>Sign in</h1><input id=u name=identifier type=email><button id=s>Next</button></form>`,
    { kind: 'username-first', reason: 'fill', username: 'u', password: undefined, submit: 's' },
  ],
  [
    'password step with the name shown',
    `<form><h1>Enter your password</h1><input id=x value=me@site.example readonly><input id=p type=password><button id=s>Next</button></form>`,
    { kind: 'password-step', reason: 'fill', username: undefined, password: 'p', submit: 's' },
  ],
  [
    'a device that has a password alone',
    `<form><label>Password <input id=p type=password></label><button id=s>Login</button></form>`,
    { kind: 'password-step', password: 'p', submit: 's' },
  ],
  [
    'registration',
    `<form><input name=first_name><input name=last_name><input type=email><input type=password><label><input type=checkbox> I agree to the terms</label><button>Sign up</button></form>`,
    { kind: 'registration', ...NOTHING },
  ],
  [
    'registration with one password',
    `<form action=/users><h1>Create your account</h1><input type=email name=email><input type=password name=password autocomplete=new-password><button>Continue</button></form>`,
    { kind: 'registration', ...NOTHING },
  ],
  [
    'change',
    `<form><input type=password name=old placeholder="Current password"><input type=password name=new placeholder="New password"><input type=password name=again placeholder="Repeat new password"><button>Save</button></form>`,
    { kind: 'change', ...NOTHING },
  ],
  [
    'recovery by address',
    `<form><h1>Forgot your password?</h1><input type=email name=email><button>Send reset link</button></form>`,
    { kind: 'recovery', ...NOTHING },
  ],
  [
    'recovery by a new password',
    `<form><input type=password placeholder="New password"><input type=password placeholder="Confirm password"><button>Reset password</button></form>`,
    { kind: 'recovery', ...NOTHING },
  ],
  [
    'search',
    `<form action=/find><input type=search name=q><button>Search</button></form>`,
    { kind: 'search', ...NOTHING },
  ],
  [
    'newsletter',
    `<form><p>Our newsletter</p><input type=email name=email placeholder="Your e-mail"><button>Subscribe</button></form>`,
    { kind: 'newsletter', ...NOTHING },
  ],
  [
    'an address to prove before there is an account',
    `<form id=new_email_verification_code><input type=email name=email placeholder="E-mail address"><button>Continue</button></form>`,
    { kind: 'registration', ...NOTHING },
  ],
  [
    'an address alone that leads on',
    `<form action=/continue><input id=u type=email name=email placeholder="E-mail address"><button id=s>Continue</button></form>`,
    { kind: 'username-first', reason: 'fill', username: 'u', submit: 's' },
  ],
  [
    'newsletter of one field and "Sign up"',
    `<form><input type=email placeholder=E-mail><button>Sign up</button></form>`,
    { kind: 'newsletter', ...NOTHING },
  ],
  [
    'checkout',
    `<form><input autocomplete=cc-name><input autocomplete=cc-number><input type=password name=cvv placeholder=CVV><button>Pay now</button></form>`,
    { kind: 'checkout', ...NOTHING },
  ],
  [
    'the address of a guest at a checkout',
    `<form class=form-login><input type=email name=username><input type=password name=password style="display:none"></form><form><input name=street><input name=city><input name=postcode><button>Continue to payment</button></form>`,
    { kind: 'checkout', ...NOTHING },
  ],
  [
    'contact',
    `<form><input name=name placeholder="Your name"><input type=email><textarea name=message></textarea><button>Send</button></form>`,
    { kind: 'other', ...NOTHING },
  ],
  [
    'code',
    `<form><h1>Enter the code</h1><label>Verification code <input id=c inputmode=numeric></label><button id=s>Verify</button></form>`,
    { kind: 'one-time-code', reason: 'fill', code: ['c'], submit: 's' },
  ],
  [
    'code by token',
    `<form><input id=c autocomplete=one-time-code><button id=s>Continue</button></form>`,
    { kind: 'one-time-code', code: ['c'] },
  ],
  [
    'a code that is called nothing else',
    `<form id=x_form action="/step"><label for=c>Code</label><input id=c name=x><input id=s type=submit value=Login></form>`,
    { kind: 'one-time-code', reason: 'fill', code: ['c'], submit: 's' },
  ],
  [
    'a second factor by the name of its field alone',
    `<form><label for=c>Your number</label><input id=c name=twofa_code><button id=s>Login</button></form>`,
    { kind: 'one-time-code', reason: 'fill', code: ['c'], submit: 's' },
  ],
  [
    'code in six inputs',
    `<p>We sent you a code</p><div>${[1, 2, 3, 4, 5, 6].map((n) => `<input id=c${n} maxlength=1 inputmode=numeric>`).join('')}</div><button id=s>Verify</button>`,
    { kind: 'one-time-code', code: ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'], submit: 's' },
  ],
  [
    'a bot check and nothing else',
    `<h1>Just a moment</h1><img src="/captcha.png" width=200 height=60 alt="">`,
    { kind: 'captcha', reason: 'captcha' },
  ],
  ['a text', `<h1>About us</h1><p>We make things.</p>`, { kind: 'none', reason: 'nothing' }],
];
