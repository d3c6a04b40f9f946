// Mutations of observed pages that a generalizing detector survives. They change descriptions, never the pages.
import { createHash } from 'node:crypto';
import type {
  ElementDescription,
  FormDescription,
  FrameDescription,
  Observation,
} from '../../src/login/detection/description.ts';
import { buildMatcher, normalizeText } from '../../src/login/detection/match.ts';
import { FORGOT, NEXT, REGISTER, SIGN_IN } from '../../src/login/detection/words/actions.ts';
import { EMAIL, PASSWORD, PHONE, USERNAME } from '../../src/login/detection/words/fields.ts';
import type { Words } from '../../src/login/detection/words/fields.ts';
import { REMEMBER } from '../../src/login/detection/words/more-actions.ts';

/**
 * `renamed`: names, ids, classes and paths are meaningless. `translated`: texts with a topic use another language.
 * `unreadable`: every visible text is in a language without a table. `shuffled`: other controls come before the
 * fields, in another order. `untagged`: no `autocomplete`.
 */
export const MUTATIONS = ['renamed', 'translated', 'unreadable', 'shuffled', 'untagged'] as const;
export type Mutation = (typeof MUTATIONS)[number];

function scramble(text: string): string {
  return text === '' ? '' : `q${createHash('sha256').update(text).digest('hex').replaceAll(/\d/g, 'z').slice(0, 8)}`;
}

function renameElement(element: ElementDescription): ElementDescription {
  const { name, htmlId, className, marks, path } = element;
  return {
    ...element,
    name: scramble(name),
    htmlId: scramble(htmlId),
    className: scramble(className),
    marks: scramble(marks),
    path: path === '' ? '' : `/${scramble(path)}`,
  };
}

function renameForm(form: FormDescription): FormDescription {
  const { htmlId, name, className, path } = form;
  return {
    ...form,
    htmlId: scramble(htmlId),
    name: scramble(name),
    className: scramble(className),
    path: path === '' ? '' : `/${scramble(path)}`,
  };
}

const TOPICS: readonly Words[] = [FORGOT, REMEMBER, REGISTER, SIGN_IN, PASSWORD, EMAIL, USERNAME, PHONE, NEXT];
const SPOKEN = ['de', 'fr', 'es', 'ru', 'pl', 'tr', 'ja', 'zh'];
const TRANSLATIONS = TOPICS.map((topic) => ({
  matches: buildMatcher({ en: topic['en'] ?? '' }),
  say: (language: string) => topic[language]?.split('|').find((phrase) => !phrase.includes('*')) ?? '',
}));

function translate(text: string, language: string): string {
  const normalized = normalizeText(text);
  if (normalized.length > 40) return text;
  const said = TRANSLATIONS.filter(({ matches }) => matches(normalized)).map(({ say }) => say(language));
  return said[0] === undefined || said[0] === '' ? text : said.slice(0, 2).join(' / ');
}

function changeTexts(element: ElementDescription, change: (text: string) => string): ElementDescription {
  const { label, ariaLabel, placeholder, title, text } = element;
  return {
    ...element,
    label: change(label),
    ariaLabel: change(ariaLabel),
    placeholder: change(placeholder),
    title: change(title),
    text: change(text),
  };
}

function shuffle(frame: FrameDescription): FrameDescription {
  const fields = frame.elements.filter(({ control }) => control === 'field');
  const places = frame.elements.flatMap(({ control }, index) => (control === 'field' ? [index] : []));
  const elements = [...frame.elements];
  // Swaps two neighbouring fields of one form, so that a password may come before its user name.
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [first, second] = [fields[index], fields[index + 1]];
    const [here, there] = [places[index], places[index + 1]];
    if (!first || !second || here === undefined || there === undefined || first.form !== second.form) continue;
    elements[here] = second;
    elements[there] = first;
  }
  return { ...frame, elements };
}

function mutateFrame(frame: FrameDescription, mutation: Mutation, language: string): FrameDescription {
  const each = (change: (element: ElementDescription) => ElementDescription) => frame.elements.map(change);
  if (mutation === 'renamed') return { ...frame, elements: each(renameElement), forms: frame.forms.map(renameForm) };
  if (mutation === 'translated')
    return {
      ...frame,
      title: translate(frame.title, language),
      elements: each((element) => changeTexts(element, (text) => translate(text, language))),
    };
  if (mutation === 'unreadable')
    return {
      ...frame,
      title: scramble(frame.title),
      text: scramble(frame.text),
      elements: each((element) => changeTexts(element, scramble)),
    };
  if (mutation === 'untagged') return { ...frame, elements: each((element) => ({ ...element, autocomplete: [] })) };
  return shuffle(frame);
}

/** A changed copy of an observation. The ids of the elements stay. */
export function mutate(observation: Observation, mutation: Mutation): Observation {
  const seed = observation.frames[0]?.elements.length ?? 0;
  const language = SPOKEN[seed % SPOKEN.length] ?? 'de';
  return { frames: observation.frames.map((frame) => mutateFrame(frame, mutation, language)) };
}
