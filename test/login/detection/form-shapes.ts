import { LOGIN, NOTHING } from './pages.ts';
import type { Case } from './pages.ts';

const PASSWORD = `<label>Password <input id=p type=password name=pw></label>`;
const SIGN_IN = `<button id=s>Sign in</button>`;

/** The field right before a single password is the user name, whatever its words would mean elsewhere. */
const CALLED_OTHERWISE: readonly Case[] = [
  ['a field called "Name"', `<form><label>Name <input id=u name=name></label>${PASSWORD}${SIGN_IN}</form>`, LOGIN],
  [
    'a field called "Имя"',
    `<form><label>Имя <input id=u name=f1></label><label>Пароль <input id=p type=password></label><button id=s>Войти</button></form>`,
    LOGIN,
  ],
  [
    'a field called "Jméno"',
    `<form><label>Jméno <input id=u name=f1></label><label>Heslo <input id=p type=password></label><button id=s>Odeslat</button></form>`,
    LOGIN,
  ],
  [
    'a name without words on the button',
    `<form action=/session><input id=u name=name placeholder=Name><input id=p type=password name=pass><input id=s type=submit value=OK></form>`,
    LOGIN,
  ],
  [
    'a card number that a bank takes',
    `<form><h1>Online banking</h1><label>Card number <input id=u name=cardNumber inputmode=numeric></label>${PASSWORD}${SIGN_IN}</form>`,
    LOGIN,
  ],
  [
    'a card number and a PIN',
    `<form><label>Card number <input id=u autocomplete=cc-number></label><label>PIN <input id=p type=password name=pin maxlength=6></label><button id=s>Log in</button></form>`,
    LOGIN,
  ],
  [
    'a customer code',
    `<form><label>Customer code <input id=u name=code></label>${PASSWORD}<button id=s>Continue</button></form>`,
    LOGIN,
  ],
  [
    'an identifier with the name of a state in it',
    `<form><label>Wayne State AccessID <input id=u name=f1></label>${PASSWORD}${SIGN_IN}</form>`,
    LOGIN,
  ],
  [
    'an explanation with words of an address',
    `<form><label>Enter the ID that your city library gave you when you joined, without the last digit <input id=u name=f1></label>${PASSWORD}${SIGN_IN}</form>`,
    LOGIN,
  ],
  [
    'a token of a given name',
    `<form><input id=u name=login autocomplete=given-name placeholder=Login><input id=p type=password><button id=s>Log in</button></form>`,
    LOGIN,
  ],
  [
    'tokens that say the wrong thing everywhere',
    `<form><input id=u name=user autocomplete=one-time-code placeholder="User name"><input id=p type=password autocomplete=one-time-code><button id=s>Log in</button></form>`,
    LOGIN,
  ],
  [
    'a user name with the token of a new password',
    `<form><input id=u name=email type=email autocomplete=new-password><input id=p type=password autocomplete=new-password><button id=s>Log in</button></form>`,
    LOGIN,
  ],
  [
    'a field without any words',
    `<form><input id=u name=x1><input id=p name=x2 type=password><button id=s>→</button></form>`,
    LOGIN,
  ],
  [
    'a language that no table knows',
    `<form><h1>Qilorma vesta</h1><label>Ruminok <input id=u name=f1></label><label>Tarvel <input id=p name=f2 type=password></label><a href=/x>Selan tarvel?</a><button id=s>Vesta</button></form>`,
    LOGIN,
  ],
  [
    'a town before the name',
    `<form><label>School or city <input id=c name=school></label><label>User name <input id=u name=a></label>${PASSWORD}${SIGN_IN}</form>`,
    LOGIN,
  ],
  [
    'an account number and a surname beside the password',
    `<form><h1>Library login</h1><label>Last name <input id=l name=lastname></label><label>Library card number <input id=u name=barcode></label><label>PIN <input id=p type=password name=pin></label>${SIGN_IN}</form>`,
    LOGIN,
  ],
];

const MASKED: readonly Case[] = [
  [
    'a text field that the style masks',
    `<form><input id=u name=a1 placeholder="User ID"><input id=p name=a2 type=text style="-webkit-text-security:disc"><button id=s>Log in</button></form>`,
    LOGIN,
  ],
  [
    'a text field with no more than the label "Password"',
    `<form><label>User name <input id=u name=f1></label><label>Password <input id=p name=f2 type=text></label><button id=s>Log in</button></form>`,
    LOGIN,
  ],
  [
    'a masked field with the label in another language',
    `<form><label>Benutzer <input id=u name=f1></label><label>Kennwort: <input id=p name=f2 type=text></label><button id=s>Anmelden</button></form>`,
    LOGIN,
  ],
];

const PRESSED: readonly Case[] = [
  [
    '"Next" beside "Create account"',
    `<form><h1>Sign in</h1><input id=u type=email name=identifier placeholder="E-mail or phone"><button type=button id=r>Create account</button><button type=button id=s>Next</button></form>`,
    { kind: 'username-first', reason: 'fill', username: 'u', submit: 's' },
  ],
  [
    '"Next" beside "Register" without a title',
    `<form><input id=u name=username placeholder="User name"><button type=submit id=s>Next</button><button type=button id=r>Register</button></form>`,
    { kind: 'username-first', reason: 'fill', username: 'u', submit: 's' },
  ],
  [
    '"Continue" above "Register" of a whole login',
    `<form><input id=u name=username placeholder="User name"><input id=p type=password name=pw><button type=submit id=s>Continue</button><button type=button id=r>Register</button></form>`,
    LOGIN,
  ],
  [
    'a button of words in no table beside "Register"',
    `<form><input id=u name=username placeholder="User name"><input id=p type=password name=pw><input type=submit id=s value="Vesta"><input type=button id=r value="Register"></form>`,
    LOGIN,
  ],
  [
    'a link as the button after "Can’t log in?"',
    `<form><input id=u name=username><input id=p type=password name=pw><button type=button id=x>Can’t log in?</button><button type=submit id=s>Log in</button></form>`,
    LOGIN,
  ],
  [
    'trouble with signing in, in words of no table',
    `<form><input id=u name=username><input id=p type=password name=pw><button type=button id=x>Why can I not sign in to my account any more?</button><button type=submit id=s>Go</button></form>`,
    LOGIN,
  ],
];

const TWICE = (prefix: string, ids: boolean) =>
  `<div class="${prefix}"><form action=/in><label>User name <input ${ids ? 'id=u' : ''} name=${prefix}_user></label><label>Password <input ${ids ? 'id=p' : ''} type=password name=${prefix}_pass></label><button ${ids ? 'id=s' : ''}>Log in</button></form></div>`;

const SEVERAL: readonly Case[] = [
  ['the same form for large and small screens', `${TWICE('desktop', true)}${TWICE('mobile', false)}`, LOGIN],
  [
    'the same fields twice without forms',
    `<div><input id=u placeholder="E-mail"><input id=p type=password placeholder=Password><div id=s role=button>Log in</div></div><div><input placeholder="E-mail"><input type=password placeholder=Password><div role=button>Log in</div></div>`,
    LOGIN,
  ],
  [
    'login and join in one form',
    `<form action=/go><div><h2>Log in</h2><input id=u name=email placeholder=E-mail><input id=p type=password name=pw placeholder=Password><button id=s name=do value=login>Log in</button></div><div><h2>Join</h2><input name=name placeholder="Your name"><input name=new_email placeholder=E-mail><input type=password name=new_pw placeholder="Choose a password"><button name=do value=join>Join now</button></div></form>`,
    LOGIN,
  ],
  [
    'one pair of fields with a button to log in and one to join',
    `<form><input id=u name=email placeholder=E-mail><input id=p type=password name=pw placeholder=Password><button id=s name=do value=login>Log in</button><button name=do value=join>Sign up</button></form>`,
    LOGIN,
  ],
  [
    'a panel for codes beside the user name',
    `<div><form><h1>Sign in</h1><input id=u type=email name=email placeholder="E-mail"><button id=s>Next</button></form></div><div class="modal"><form><label>Enter the code that we sent <input name=code></label><button>Verify</button></form></div>`,
    { kind: 'username-first', reason: 'fill', username: 'u', submit: 's' },
  ],
  [
    'a closed panel with the same first step',
    `<form action=/a><input id=u type=email name=email placeholder="E-mail"><button id=s>Sign in</button></form><div class="modal hidden"><form action=/b><input type=email name=email2 placeholder="E-mail"><button>Sign in</button></form></div>`,
    { kind: 'username-first', reason: 'fill', username: 'u', submit: 's' },
  ],
];

const NO_LOGIN: readonly Case[] = [
  [
    'a sign-up with one password and a tab to sign in',
    `<div><button type=button role=tab>Sign in</button><button type=button role=tab class=active>Sign up</button><form><input type=email name=email placeholder=E-mail><input type=password name=password placeholder=Password><button type=submit>Sign up</button></form></div>`,
    { kind: 'registration', ...NOTHING },
  ],
  [
    'a sign-up whose tabs are in the form',
    `<form><h1>Create your account</h1><button type=button>Sign in</button><input type=email name=email placeholder=E-mail><input type=password name=password placeholder=Password><button type=submit>Continue</button></form>`,
    { kind: 'registration', ...NOTHING },
  ],
  [
    'a sign-up that offers to sign in below',
    `<form><h2>Start your trial</h2><input type=email name=email placeholder="Work e-mail"><input type=password name=password placeholder=Password><button type=submit>Start free trial</button><p>Already have an account? <a href=/login>Sign in</a></p></form>`,
    { kind: 'registration', ...NOTHING },
  ],
  [
    'an e-mail address that begins a registration',
    `<form><h1>Create an account</h1><input type=email name=email placeholder=E-mail><button type=submit>Continue</button><p>Already have an account? <a href=/login>Sign in</a></p></form>`,
    { kind: 'registration', ...NOTHING },
  ],
  [
    'names and a password, in words of no table',
    `<form><label>First name <input name=a></label><label>Last name <input name=b></label><label>E-mail <input name=c></label><label>Password <input type=password name=d></label><button>Vesta</button></form>`,
    { kind: 'registration', ...NOTHING },
  ],
  [
    'a card that pays',
    `<form><label>Card number <input name=number></label><label>MM/YY <input name=exp></label><label>Security code <input type=password name=cvc></label><button>Pay</button></form>`,
    { kind: 'checkout', ...NOTHING },
  ],
  [
    'a request for contact',
    `<form><label>Name <input name=name></label><label>Company <input name=company></label><label>E-mail <input name=email></label><button>Request a demo</button></form>`,
    { kind: 'other', ...NOTHING },
  ],
  [
    'an account page that changes the address',
    `<form><h2>Change e-mail address</h2><label>New e-mail <input name=email></label><label>Current password <input type=password name=current_password autocomplete=current-password></label><button>Save changes</button></form>`,
    NOTHING,
  ],
];

const CODES: readonly Case[] = [
  [
    'a second factor whose button says sign in',
    `<h1>Sign in</h1><form><label>Authentication code <input id=c name=otp></label><button id=s>Sign in</button></form><footer><a href=/register>Register</a></footer>`,
    { kind: 'one-time-code', reason: 'fill', code: ['c'], submit: 's' },
  ],
  [
    'a second factor that asks to register a device',
    `<form><h1>Two-step verification</h1><label>6-digit code <input id=c name=code></label><label><input type=checkbox name=trust> Register this device</label><button id=s>Sign in</button></form>`,
    { kind: 'one-time-code', reason: 'fill', code: ['c'], submit: 's' },
  ],
];

/** Forms of real sites, beyond the examples of the rules. */
export const SHAPES = {
  'takes for the user name': CALLED_OTHERWISE,
  'takes for the password': MASKED,
  'presses the right one': PRESSED,
  'chooses among several': SEVERAL,
  'fills nothing on': NO_LOGIN,
  'takes for a code': CODES,
} satisfies Record<string, readonly Case[]>;
