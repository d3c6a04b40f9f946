import type { Vocabulary } from './vocabulary.ts';

type Draw = (words: Vocabulary) => string;

const list = (items: readonly string[], tag = 'li') => items.map((item) => `<${tag}>${item}</${tag}>`).join('');
const nav = (w: Vocabulary, end = '') =>
  `<header><nav><ul>${[w.home, w.projects, w.reports, w.settings].map((item, at) => `<li><a href="/n${at}">${item}</a></li>`).join('')}</ul>${end}</nav></header>`;
const out = (w: Vocabulary) => `<a href="/x9">${w.logout}</a>`;
/** A menu that shows only a picture. */
const avatar = '<button class="avatar"><img alt="" width="32" height="32"></button>';
const letters = '<button aria-haspopup="menu">AL</button>';
const rows = (cells: readonly (readonly string[])[]) =>
  `<table><tbody>${cells.map((row) => `<tr>${list(row, 'td')}</tr>`).join('')}</tbody></table>`;
const people = (w: Vocabulary) =>
  rows([
    ['ada@example.com', 'Ada Lovelace', 'OK', '2026-11-20'],
    ['grace@example.com', 'Grace Hopper', `<span class="status error">${w.userLocked}</span>`, '2026-11-18'],
    [
      'edsger@example.com',
      'Edsger Dijkstra',
      `<span class="badge badge-danger">${w.userDisabled}</span>`,
      '2026-10-02',
    ],
  ]);
const change = (w: Vocabulary) =>
  `<form method="post"><label>${w.oldPassword} <input type="password" name="a"></label><label>${w.newPassword} <input type="password" name="b"></label>
  <label>${w.again} <input type="password" name="c"></label><button>${w.save}</button></form>`;
const search = (w: Vocabulary) =>
  `<form role="search"><input type="search" name="q" placeholder="${w.search}"><button>${w.search}</button></form>`;

/** Captions of the links that lead to a login, by language. */
const SIGN_IN: Readonly<Record<string, string>> = {
  en: 'Log in',
  de: 'Anmelden',
  fr: 'Se connecter',
  es: 'Iniciar sesión',
  pt: 'Entrar',
  ja: 'ログイン',
  it: 'Accedi',
  nl: 'Inloggen',
};

/** The page as an application shows it without a session: a link to the login in place of what marks the account. */
export function drawSignedOut(draw: Draw, words: Vocabulary): string {
  const link = `<a href="/login">${SIGN_IN[words.code]}</a>`;
  const page = draw(words);
  const own = [out(words), avatar, letters].find((marker) => page.includes(marker));
  // Nobody is asked for an old password without a session.
  const shown = page.includes(change(words)) ? page.replace(change(words), '') : page;
  return own === undefined ? link + shown : shown.replace(own, link);
}

/** Pages as applications show them to whoever is signed in. */
export const LAYOUTS: Readonly<Record<string, Draw>> = {
  'start with a link to sign out': (w) => `${nav(w, out(w))}<h1>${w.welcome}</h1><p>${w.text}</p>`,
  'start with a picture': (w) => `${nav(w, avatar)}<h1>${w.projects}</h1><p>${w.text}</p>`,
  'start with initials': (w) => `${nav(w, letters)}<main><h1>${w.welcome}</h1><p>${w.text}</p></main>`,
  'a drawer alone': (w) =>
    `<button aria-label="menu">☰</button><h1>${w.inbox}</h1><ul>${list([w.text, w.passwordMail])}</ul>`,
  'a mailbox': (w) =>
    `${nav(w, avatar)}<h1>${w.inbox}</h1>${rows([
      ['Bank', w.passwordMail],
      ['Shop', w.codeMail],
      ['Cloud', w.terms],
      ['Ada', w.text],
    ])}`,
  builds: (w) =>
    `${nav(w, avatar)}<div class="alert alert-danger">${w.failed}</div><h1>${w.projects}</h1>${rows([
      ['main', `<b class="error">✗</b>`, w.text],
      ['search', 'OK', w.text],
      ['dark-mode', 'OK', w.text],
    ])}`,
  payments: (w) => `${nav(w, out(w))}<div role="alert">${w.invalidCard}</div><h1>${w.reports}</h1><p>${w.text}</p>`,
  'a payment without a marker': (w) =>
    `${nav(w)}<div role="alert">${w.invalidCard}</div><h1>${w.reports}</h1><p>${w.text}</p><p>${w.text}</p><p>${w.text}</p>`,
  doors: (w) => `${nav(w, letters)}<h1>${w.reports}</h1><ul>${list([w.locked, w.text, w.text, w.empty])}</ul>`,
  people: (w) => `${nav(w, out(w))}<h1>${w.profile}</h1>${people(w)}`,
  'people without a marker': (w) => `${nav(w, letters)}<h1>${w.settings}</h1>${people(w)}<p>${w.text}</p>`,
  tickets: (w) =>
    `${nav(w, avatar)}<h1>${w.inbox}</h1>${rows([
      ['#41', w.ticket],
      ['#42', w.text],
      ['#43', w.outage],
    ])}<p>${w.text}</p>`,
  'a new password': (w) => `${nav(w, out(w))}<h1>${w.settings}</h1>${change(w)}`,
  'a new password without a marker': (w) => `${nav(w)}<h1>${w.settings}</h1>${change(w)}`,
  'a second factor to set up': (w) =>
    `${nav(w, out(w))}<h1>${w.settings}</h1><section><h2>${w.twoFactor}</h2><p>${w.text}</p><a href="/2f">${w.next}</a></section>
    <section><h2>${w.devices}</h2><ul>${list(['Firefox', 'Safari'])}</ul></section><section><h2>${w.keys}</h2><p>${w.empty}</p></section><section><h2>${w.push}</h2><input type="checkbox"></section>
    <ul>${['1', '2', '3', '4', '5', '6', '7', '8'].map((each) => `<li><a href="/s${each}">${w.settings} ${each}</a></li>`).join('')}</ul>`,
  monitoring: (w) =>
    `${nav(w, avatar)}<div class="notification warning">${w.outage}</div><h1>${w.reports}</h1>${rows([
      ['node 1', 'OK', w.text],
      ['node 2', 'OK', w.text],
      ['node 4', 'x', w.text],
    ])}`,
  'new terms': (w) =>
    `${nav(w, out(w))}<div class="banner">${w.terms}</div><h1>${w.projects}</h1><p>${w.text}</p>${search(w)}`,
  trial: (w) => `${nav(w, out(w))}<h1>${w.trial}</h1><p>${w.text}</p>`,
  'a bank': (w) =>
    `${nav(w, out(w))}<h1>${w.choose}</h1><ul>${['Giro', 'Depot', 'Visa'].map((each) => `<li><a href="/${each}">${each}</a></li>`).join('')}</ul><p>${w.text}</p>${search(w)}<ul>${['1', '2', '3', '4'].map((each) => `<li><a href="/q${each}">${w.reports} ${each}</a></li>`).join('')}</ul>`,
  nothing: (w) => `${nav(w, avatar)}<h1>${w.projects}</h1><p>${w.empty}</p><button>+</button>`,
  finding: (w) =>
    `${nav(w, letters)}${search(w)}<h1>${w.search}</h1><ol>${list([w.text, w.passwordMail, w.terms, w.text])}</ol>`,
  writing: (w) =>
    `${nav(w, avatar)}<form method="post"><input name="title" placeholder="${w.projects}"><textarea name="text"></textarea><button>${w.save}</button></form>`,
  profile: (w) =>
    `${nav(w, out(w))}<h1>${w.profile}</h1><form method="post"><input name="first" value="Ada"><input type="email" name="mail" value="ada@example.com"><button>${w.save}</button></form>`,
  calendar: (w) =>
    `${nav(w, letters)}<h1>2026-11</h1>${rows([
      ['1', '2', '3'],
      ['8', '9', '10'],
      ['15', '16', '17'],
    ])}<p>${w.text}</p>`,
  files: (w) =>
    `${nav(w, avatar)}<ul>${['a.txt', 'password.kdbx', 'login.png', 'error.log'].map((each) => `<li><a href="/f/${each}">${each}</a></li>`).join('')}</ul><p>${w.text}</p>`,
  'a drawing': () => '<canvas width="800" height="600"></canvas><button>▶</button><button>⏸</button>',
};
