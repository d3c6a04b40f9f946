import { afterAll, expect, it } from 'vitest';
import { SHAPES } from './form-shapes.ts';
import { KINDS } from './page-kinds.ts';
import { FIELDS, LOGIN, NOTHING, SIMPLE, openTestBrowser, plan } from './pages.ts';
import type { Case } from './pages.ts';

const testBrowser = await openTestBrowser();
afterAll(() => testBrowser?.[Symbol.asyncDispose]());

const PAIRS: readonly Case[] = [
  ['a form', SIMPLE, LOGIN],
  [
    'fields without a form',
    `<div><p>Sign in</p><label>E-mail <input id=u></label><label>Password <input id=p type=password></label><div id=s role=button tabindex=0>Sign in</div></div>`,
    LOGIN,
  ],
  ['a styled link as the button', `<form>${FIELDS}<a id=s href="#" onclick="go()">Login</a></form>`, LOGIN],
  ['no button at all', `<form>${FIELDS}</form>`, { ...LOGIN, submit: undefined }],
  [
    'a text field that takes the password, named so',
    `<form><input id=u name=user type=text placeholder="User name"><input id=p name=pass type=text placeholder=Password><button id=s>Sign in</button></form>`,
    LOGIN,
  ],
  [
    'values that the page has filled in',
    `<form><input id=u name=login value=somebody><input id=p type=password value=old><input id=s type=submit value="Log in"></form>`,
    LOGIN,
  ],
  [
    'tokens over names',
    `<form><input id=x name=username><input id=u name=field7 autocomplete="section-a username webauthn"><input id=p type=password autocomplete=current-password><button id=s>Go</button></form>`,
    LOGIN,
  ],
  [
    'a search field that is the user name by its token',
    `<form><input id=u type=search autocomplete=username><input id=p type=password><button id=s>Sign in</button></form>`,
    LOGIN,
  ],
  [
    'a company before the name',
    `<form><label>Company code <input id=c name=tenant></label><label>User name <input id=u name=a></label><label>Password <input id=p type=password></label><button id=s>Log in</button></form>`,
    LOGIN,
  ],
  [
    'labels in cells before the fields',
    `<form><table><tr><td>Kennung</td><td><input id=u name=f1></td></tr><tr><td>Passwort</td><td><input id=p name=f2 type=password></td></tr></table><input id=s type=submit value=Los></form>`,
    LOGIN,
  ],
  [
    'a box that keeps the session',
    `<form>${FIELDS}<label><input id=r type=checkbox name=keep> Keep me signed in</label><button id=s>Log in</button></form>`,
    { ...LOGIN, remember: 'r' },
  ],
  [
    'a search before the login in one form around the page',
    `<form id=aspnetForm><header><input id=q name=q type=search placeholder=Search><input id=qs type=submit value=Search></header><main><div><label>User name <input id=u></label><label>Password <input id=p type=password></label><input id=s type=submit value="Log in"></div></main><footer><input id=n type=email placeholder="Your e-mail"><input id=ns type=submit value=Subscribe></footer></form>`,
    LOGIN,
  ],
  [
    'a captcha field before the password',
    `<form><input id=u name=username><label>Characters in the image <input id=c name=captcha></label><input id=p type=password><button id=s>Log in</button></form>`,
    { ...LOGIN, captcha: true },
  ],
  [
    'the show-password switch turned the field to text',
    `<form><input id=u name=username><input id=p type=password name=x><button type=button id=t>Show</button><button id=s>Log in</button></form><script>addEventListener('load', () => { document.getElementById('p').type = 'text'; })</script>`,
    LOGIN,
  ],
  [
    'browsers told that the password were new',
    `<h1>Sign in</h1><form><input id=u name=email type=email autocomplete=off><input id=p type=password autocomplete=new-password><button id=s>Sign in</button><a id=f href=/forgot>Forgot password?</a></form>`,
    LOGIN,
  ],
  ['a button that its script enables later', `<form>${FIELDS}<button id=s disabled>Log in</button></form>`, LOGIN],
];

const BUTTONS: readonly Case[] = [
  [
    'sign in, not register, forgot or another party',
    `<form>${FIELDS}<button id=g>Sign in with Google</button><button id=r>Register</button><button id=f>Forgot password</button><button id=s>Sign in</button></form>`,
    LOGIN,
  ],
  [
    'the button after the fields, not the clear or show button',
    `<form>${FIELDS}<button id=e>Show password</button><button id=c type=reset>Clear</button><button id=s class=primary>Continue</button></form>`,
    LOGIN,
  ],
  ['the site named in it', `<form>${FIELDS}<button id=s>Sign in to Facebook</button></form>`, LOGIN],
  ['only a picture', `<form>${FIELDS}<input type=image id=s alt="" width=80 height=30></form>`, LOGIN],
  ['right beside its form', `<div><form>${FIELDS}</form><div><button id=s>Log in</button></div></div>`, LOGIN],
  [
    'registration alone is not pressed',
    `<form action=/login>${FIELDS}<a id=f href=/register>Register</a></form>`,
    { ...LOGIN, submit: undefined },
  ],
];

const BESIDE: readonly Case[] = [
  [
    'a registration to the left',
    `<div style="display:flex"><form id=reg><h2>Create account</h2><input id=e1 type=email name=email><input id=p1 type=password name=password><input id=p2 type=password name=password_confirm><button id=s1>Register</button></form><form id=log><h2>Log in</h2>${FIELDS}<button id=s>Log in</button></form></div>`,
    LOGIN,
  ],
  [
    'a registration above, without forms',
    `<div><div><h2>New here?</h2><input id=e1 placeholder="E-mail"><input id=p1 type=password placeholder="Choose a password"><div role=button id=s1>Sign up</div></div><div><h2>Welcome back</h2><input id=u placeholder="E-mail"><input id=p type=password placeholder=Password><div role=button id=s>Log in</div></div></div>`,
    LOGIN,
  ],
  [
    'a newsletter and a search',
    `<form role=search><input id=q name=q><button id=qb>Search</button></form>${SIMPLE}<form><input id=n type=email><button id=nb>Subscribe</button></form>`,
    LOGIN,
  ],
  [
    'the recovery form below',
    `${SIMPLE}<form><h2>Forgot password?</h2><input id=f name=email type=email><button id=fb>Request password</button></form>`,
    LOGIN,
  ],
  [
    'the same form twice',
    `<header><form action=/in><input id=u name=username><input id=p type=password name=password><button id=s>Log in</button></form></header><main><form action=/in><input name=username><input type=password name=password><button>Log in</button></form></main>`,
    LOGIN,
  ],
];

const REFUSALS: readonly Case[] = [
  [
    'two logins that say the same',
    `<form action=/a><h2>Log in</h2><input name=a1 placeholder="User name"><input type=password name=a2><button>Log in</button></form><form action=/b><h2>Log in</h2><input name=b1 placeholder="User name"><input type=password name=b2><button>Log in</button></form>`,
    { reason: 'ambiguous', ...NOTHING },
  ],
  [
    'two passwords of one login',
    `<form><h1>Log in</h1><input name=user><input type=password name=x1><input type=password name=x2><button>Log in</button></form>`,
    { reason: 'ambiguous', ...NOTHING },
  ],
  [
    'a password that nobody sees',
    `<form style="position:absolute;left:-9999px">${FIELDS}<button>Log in</button></form>`,
    { reason: 'unseen', ...NOTHING },
  ],
  [
    'plain HTTP from an HTTPS page',
    `<form action="http://site.example/in">${FIELDS}<button>Log in</button></form>`,
    { reason: 'insecure-action', ...NOTHING },
  ],
];

const TRAP = (style: string, attributes = '') =>
  `<form><div style="${style}"><input id=trap name=email ${attributes}></div><input id=u name=username><input id=p type=password><button id=s>Log in</button></form>`;
const ONLY = (style: string) =>
  `<form><input id=u name=user><div style="${style}"><input id=trap type=password name=trap></div><input id=p type=password name=real><button id=s>Log in</button></form>`;
const HONEYPOTS: readonly Case[] = [
  ...[
    'display:none',
    'visibility:hidden',
    'opacity:0',
    'position:absolute;left:-5000px',
    'width:1px;height:1px;overflow:hidden',
    'clip-path:inset(50%);position:absolute',
    'height:0;overflow:hidden',
  ].flatMap((style): Case[] => [
    [`a name with ${style}`, TRAP(style), LOGIN],
    [`a password with ${style}`, ONLY(style), LOGIN],
  ]),
  ['out of the tab order', TRAP('', 'tabindex=-1'), LOGIN],
  ['aria-hidden', TRAP('', 'aria-hidden=true'), LOGIN],
  [
    'inert',
    `<form><div inert><input name=email><input type=password></div>${FIELDS}<button id=s>Log in</button></form>`,
    LOGIN,
  ],
];

const cases = {
  'pairs fields': PAIRS,
  presses: BUTTONS,
  'finds the login beside': BESIDE,
  classifies: KINDS,
  refuses: REFUSALS,
  'leaves alone': HONEYPOTS,
  ...SHAPES,
};
for (const [group, table] of Object.entries(cases)) {
  it.runIf(testBrowser).each(table)(`${group}: %s`, async (_name, html, expected) => {
    const page = await testBrowser!.open(`<!doctype html><body>${html}`);
    const parts = { username: undefined, password: undefined, submit: undefined, ...(await plan(page)) };
    expect(parts).toMatchObject(expected);
  });
}
