// How well logins are found on captured real pages, in Chromium, and how long it takes; beside the usual naive way (the
// first visible password, the text field before it, the first submit). `node bench/login-detection.ts CORPUS`, a folder of
// pages whose fields carry `data-manual-scoring` and whose submit buttons `data-manual-submit`; the file name says the
// kind. A third of the pages, chosen by the hash of their name, is not tuned to and is told apart.
// Needs: Chromium (make services) and a corpus of pages.
import { chromium } from 'playwright-core';
import { planLogin } from '../src/login/detection/classify.ts';
import type { ElementDescription } from '../src/login/detection/description.ts';
import { buildMatcher, normalizeText } from '../src/login/detection/match.ts';
import { installDetection } from '../src/login/detection/observe.ts';
import { PASSWORD } from '../src/login/detection/words/fields.ts';
import { SIGN_IN } from '../src/login/detection/words/actions.ts';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { observeCorpus } from './support/login-corpus.ts';
import type { CorpusPage } from './support/login-corpus.ts';
import { requireChromium } from './support/needs.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.log('Give the folder of the pages: node bench/login-detection.ts CORPUS');
  process.exit(0);
}

type FieldSelection = {
  kind: string;
  username: string | undefined;
  password: string | undefined;
  submit: string | undefined;
};
type Miss = { cause: string; text: string };

const isSeen = ({ unseen }: ElementDescription) => unseen === undefined || unseen === 'covered';

function pickNaively(elements: readonly ElementDescription[]): FieldSelection {
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

function checkKind(page: CorpusPage, kind: string): boolean {
  const group = LOGIN_KINDS.has(kind) ? 'login' : kind === 'registration' ? 'registration' : 'other';
  return page.expected === 'login or registration' ? group !== 'other' : group === page.expected;
}

class Score {
  readonly parts = new Map<string, { right: number; of: number }>();

  add(name: string, isRight: boolean): void {
    const part = this.parts.get(name) ?? { right: 0, of: 0 };
    this.parts.set(name, { right: part.right + Number(isRight), of: part.of + 1 });
  }

  print(title: string): void {
    const parts = [...this.parts].toSorted(([a], [b]) => a.localeCompare(b));
    console.log(`\n${title}`);
    for (const [name, { right, of }] of parts)
      console.log(`  ${name}: ${right} of ${of}, ${((100 * right) / of).toFixed(1)} %`);
  }
}

function judge(page: CorpusPage, pick: FieldSelection, score: Score): Miss[] {
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
  check(`kind of ${page.expected} pages`, checkKind(page, pick.kind), pick.kind);
  score.add('kind of all pages', checkKind(page, pick.kind));
  if (!page.expected.startsWith('login')) {
    const isFilled = pick.username !== undefined || pick.password !== undefined;
    check(
      'nothing filled on other pages',
      !isFilled,
      `${scoring(pick.username)} ${scoring(pick.password)}`.trim() || 'fields without a label',
    );
    const isRegistrationFilled = !/^password(?!\.new)/.test(scoring(pick.password)) || pick.kind === 'registration';
    if (isFilled) score.add('of these filled: fields of a login beside', !isRegistrationFilled);
    return misses;
  }
  if (names.length + passwords.length > 0) {
    const hasName = names.length === 0 ? pick.username === undefined : USERNAME.test(scoring(pick.username));
    const hasPassword = passwords.length === 0 || scoring(pick.password).startsWith('password');
    check(
      'both fields of login pages',
      hasName && hasPassword,
      `user name ${hasName ? 'right' : 'wrong'}, password ${hasPassword ? 'right' : 'wrong'}`,
    );
  }
  if (submits.length > 0) {
    check(
      'submit of login pages',
      submits.some(({ id }) => id === pick.submit),
      elements.find(({ id }) => id === pick.submit)?.text ?? 'none',
    );
  }
  return misses;
}

const LANGUAGES = Object.keys(SIGN_IN).map((language) => {
  const words = [SIGN_IN, PASSWORD].map((topic) => buildMatcher({ [language]: topic[language] ?? '' }));
  return { language, says: (text: string) => words.some((matches) => matches(text)) };
});

/** The language that most of a page's words for signing in are of; few pages declare one. */
function guessLanguage(page: CorpusPage): string {
  const texts = (page.observation.frames[0]?.elements ?? []).map(({ label, text, placeholder }) =>
    normalizeText(label || text || placeholder),
  );
  const counts = LANGUAGES.map(({ language, says }) => ({ language, count: texts.filter(says).length }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.language ?? 'en';
}

const program = requireChromium();
const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const browser = await chromium.launch({ executablePath: program, args: asRoot });
try {
  const context = await browser.newContext();
  await installDetection(context);
  const scores = { tuned: new Score(), held: new Score(), naive: new Score(), languages: new Score() };
  const observed: number[] = [];
  const planned: number[] = [];
  const naive: number[] = [];
  const misses: string[] = [];
  for await (const page of observeCorpus(folder, context)) {
    let started = performance.now();
    const plan = planLogin(page.observation);
    planned.push(performance.now() - started);
    observed.push(page.observedMs);
    const found = judge(page, plan, page.heldOut ? scores.held : scores.tuned);
    const causes = found.map(({ cause, text }) => `${cause}: ${text}`).join('; ');
    if (found.length > 0)
      misses.push(
        `${page.heldOut ? '(held out) ' : ''}${page.file}: ${causes} (${plan.reason}: ${plan.evidence.join(', ')})`,
      );
    if (page.expected === 'login') scores.languages.add(guessLanguage(page), found.length === 0);
    started = performance.now();
    const pick = pickNaively(page.observation.frames[0]?.elements ?? []);
    naive.push(performance.now() - started);
    judge(page, pick, scores.naive);
  }
  printMachine();
  scores.tuned.print('tuned to');
  scores.held.print('held out');
  scores.naive.print('the naive way, all pages');
  scores.languages.print('login pages without a miss, by language');
  console.log('\nmisses');
  for (const miss of misses) console.log(`  ${miss}`);
  console.log(`\nobserve: ${milliseconds(median(observed))}, p95 ${milliseconds(quantile(observed, 0.95))}`);
  console.log(
    `plan: ${milliseconds(median(planned))}, p95 ${milliseconds(quantile(planned, 0.95))}; the naive way ${milliseconds(median(naive))}`,
  );
} finally {
  await browser.close();
}
