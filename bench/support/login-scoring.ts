import type { ElementDescription } from '../../src/login/detection/description.ts';
import type { CorpusPage } from './login-corpus.ts';

/** The selection of a detection method on a page. */
export type Selected = {
  kind: string;
  username: string | undefined;
  password: string | undefined;
  submit: string | undefined;
};
export type Miss = { cause: string; text: string };

const isSeen = ({ unseen }: ElementDescription) => unseen === undefined || unseen === 'covered';

/** The naive method: the first visible password, the text field before it, the first submit of its form. */
export function selectNaively(elements: readonly ElementDescription[]): Selected {
  const seen = elements.filter(isSeen);
  const at = seen.findIndex(({ type }) => type === 'password');
  const username = seen
    .slice(0, Math.max(at, 0))
    .findLast(({ control, type }) => control === 'field' && type !== 'password');
  const form = seen[at]?.form;
  const submit = seen.find((element) => element.type === 'submit' && element.form === form);
  const kind =
    at === -1 ? 'other' : seen.filter(({ type }) => type === 'password').length > 1 ? 'registration' : 'login';
  return { kind, username: username?.id, password: seen[at]?.id, submit: submit?.id };
}

const USERNAME = /^(?:username|emailAddress|username OR emailAddress)$/;
const LOGIN_KINDS = new Set(['login', 'username-first', 'password-step']);

function isRightKind(page: CorpusPage, kind: string): boolean {
  const group = LOGIN_KINDS.has(kind) ? 'login' : kind === 'registration' ? 'registration' : 'other';
  return page.expected === 'login or registration' ? group !== 'other' : group === page.expected;
}

/** Counts of right answers, by name. */
export class Score {
  readonly parts = new Map<string, { right: number; of: number }>();

  add(name: string, isRight: boolean): void {
    const part = this.parts.get(name) ?? { right: 0, of: 0 };
    this.parts.set(name, { right: part.right + Number(isRight), of: part.of + 1 });
  }

  /** Adds the counts of another score. */
  merge(name: string, { right, of }: { right: number; of: number }): void {
    const part = this.parts.get(name) ?? { right: 0, of: 0 };
    this.parts.set(name, { right: part.right + right, of: part.of + of });
  }

  print(title: string): void {
    const parts = [...this.parts].toSorted(([a], [b]) => a.localeCompare(b));
    console.log(`\n${title}`);
    for (const [name, { right, of }] of parts)
      console.log(`  ${name}: ${right} of ${of}, ${((100 * right) / of).toFixed(1)} %`);
  }
}

/** Whether the filled fields on a page with another purpose belong to a login there. */
function isBesideLogin({ kind, password }: Selected, scoring: (id: string | undefined) => string): boolean {
  return /^password(?!\.new)/.test(scoring(password)) && kind !== 'registration';
}

/** Compares a selection with the labels of a page. Counts into `score`, and returns the misses. */
export function judge(page: CorpusPage, selected: Selected, score: Score): Miss[] {
  const elements = page.observation.frames[0]?.elements ?? [];
  const labelled = elements.filter((element) => isSeen(element) && page.labels.has(element.id));
  const scoring = (id: string | undefined) => page.labels.get(id ?? '')?.scoring ?? '';
  const names = labelled.filter(({ id }) => USERNAME.test(scoring(id)));
  const passwords = labelled.filter(({ id }) => scoring(id).startsWith('password'));
  const submits = labelled.filter(({ id }) => page.labels.get(id)?.submit);
  const misses: Miss[] = [];
  const check = (name: string, isRight: boolean, text: string) => {
    score.add(name, isRight);
    if (!isRight) misses.push({ cause: name, text });
  };
  check(`kind of ${page.expected} pages`, isRightKind(page, selected.kind), selected.kind);
  score.add('kind of all pages', isRightKind(page, selected.kind));
  if (!page.expected.startsWith('login')) {
    const filled = [selected.username, selected.password].filter((id) => id !== undefined).map(scoring);
    check('nothing filled on other pages', filled.length === 0, filled.join(' ').trim() || 'fields without a label');
    if (filled.length > 0) score.add('of these filled: fields of a login beside', isBesideLogin(selected, scoring));
    return misses;
  }
  if (names.length + passwords.length > 0) {
    const hasName = names.length === 0 ? selected.username === undefined : USERNAME.test(scoring(selected.username));
    const hasPassword = passwords.length === 0 || scoring(selected.password).startsWith('password');
    check(
      'both fields of login pages',
      hasName && hasPassword,
      `user name ${hasName ? 'right' : 'wrong'}, password ${hasPassword ? 'right' : 'wrong'}`,
    );
  }
  if (submits.length > 0) {
    check(
      'submit of login pages',
      submits.some(({ id }) => id === selected.submit),
      elements.find(({ id }) => id === selected.submit)?.text ?? 'none',
    );
  }
  return misses;
}
