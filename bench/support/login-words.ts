import { normalizeText } from '../../src/login/detection/match.ts';
import * as actions from '../../src/login/detection/words/actions.ts';
import * as fields from '../../src/login/detection/words/fields.ts';
import type { Words } from '../../src/login/detection/words/fields.ts';
import * as moreActions from '../../src/login/detection/words/more-actions.ts';
import * as moreFields from '../../src/login/detection/words/more-fields.ts';
import * as traits from '../../src/login/detection/words/traits.ts';
import type { Observation } from '../../src/login/detection/description.ts';

/** A phrase of the tables, by topic and language. */
export type Phrase = { topic: string; language: string; phrase: string };

const TOPICS: Readonly<Record<string, Words>> = { ...actions, ...fields, ...moreActions, ...moreFields, ...traits };
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
/** Matches nothing; replaces the last phrase of a language. */
const NOTHING = 'zzzz';

/** The kind of a page in its file name, after the name of the site. */
const KIND =
  /[-_]?(?:login|signup|checkout|newsletter|account|home|payment|address|change|card|contact|search|new|old|password|form)[-_a-z0-9]*$/;

/** The site of a captured page, from its file name. */
export function readSite(file: string): string {
  return file.replace(/\.html$/, '').replace(KIND, '');
}

/** All texts of a page that the detector reads, normalized, one per line. */
export function listTexts({ frames }: Observation): string {
  const texts = frames.flatMap(({ title, path, elements, forms }) => [
    title,
    path,
    ...elements.flatMap((element) => {
      const { name, htmlId, className, marks, label, ariaLabel, placeholder } = element;
      return [name, htmlId, className, marks, label, ariaLabel, placeholder, element.title, element.text];
    }),
    ...forms.flatMap((form) => [form.htmlId, form.name, form.className, form.label, form.path]),
  ]);
  return texts
    .filter((text) => text !== '')
    .map((text) => ` ${normalizeText(text)} `)
    .join('\n');
}

function listPhrases(): Phrase[] {
  return Object.entries(TOPICS).flatMap(([topic, words]) =>
    Object.entries(words).flatMap(([language, line]) => line.split('|').map((phrase) => ({ topic, language, phrase }))),
  );
}

/** The phrases that occur on one site only, by site. `texts`: the texts of each site. */
export function findOwnPhrases(texts: ReadonlyMap<string, string>): Map<string, Phrase[]> {
  const own = new Map<string, Phrase[]>();
  for (const each of listPhrases()) {
    const written = normalizeText(each.phrase.replace(/\*$/, '').split('…')[0] ?? '');
    const end = each.phrase.endsWith('*') ? '' : ' ';
    const sought = UNSPACED.test(written) ? written : ` ${written}${end}`;
    const [site, ...others] = [...texts].filter(([, text]) => text.includes(sought)).map(([name]) => name);
    if (site !== undefined && others.length === 0) own.set(site, [...(own.get(site) ?? []), each]);
  }
  return own;
}

/** Removes phrases from the tables of this process. Call it before anything imports the detector. */
export function dropPhrases(phrases: readonly Phrase[]): void {
  for (const { topic, language, phrase } of phrases) {
    const words = TOPICS[topic];
    if (words === undefined) continue;
    const left = (words[language] ?? '').split('|').filter((each) => each !== phrase);
    Object.assign(words, { [language]: left.length === 0 ? NOTHING : left.join('|') });
  }
}
