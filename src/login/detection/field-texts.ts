import type { ElementDescription } from './description.ts';
import { normalizeText } from './match.ts';

/** The words of a field, normalized. */
export type Texts = {
  /** Identifiers in the markup. */
  names: string;
  /** Visible text. */
  shown: string;
  all: string;
};

const PATH_STEP = /[.$:[\]]+/;

/** Name and id of a field, without its path: `user[city]` and `UserInformation.City` name a city, not a user. */
export function readOwnName({ name, htmlId }: ElementDescription): string {
  const steps = name.split(PATH_STEP).filter((step) => /\p{L}{2}/u.test(step));
  const own = steps.at(-1) ?? name;
  const path = steps.slice(0, -1).join('_');
  const isInId = path !== '' && htmlId.toLowerCase().startsWith(`${path.toLowerCase()}_`);
  return `${own} ${isInId ? htmlId.slice(path.length + 1) : htmlId}`;
}

export function readTexts(element: ElementDescription): Texts {
  const { marks, label, ariaLabel, placeholder, title } = element;
  const names = normalizeText(`${readOwnName(element)} ${marks}`);
  const shown = normalizeText(`${label} ${ariaLabel} ${placeholder} ${title}`);
  return { names, shown, all: `${names} ${shown}`.trim() };
}
