import { says } from './captions.ts';
import type { CoverDescription, ElementDescription, FrameDescription } from './description.ts';
import { normalizeText } from './match.ts';
import type { Obstacle } from './login-plan.ts';

const CONSENT = /cookie|consent|gdpr|onetrust|didomi|cmp|privacy|usercentrics|datenschutz/i;
const CLOSE = /(?:^|[-_\s])(?:close|dismiss)(?:$|[-_\s])/i;
const MAX_CAPTION = 40;

function isConsent(cover: CoverDescription): boolean {
  return CONSENT.test(`${cover.marks} ${cover.text}`);
}

/** The button that dismisses a cover. A refusal comes before consent, to agree to as little as possible. */
function findDismissal(frame: FrameDescription, cover: CoverDescription): string | undefined {
  const within = frame.elements.filter(
    (element) =>
      (element.control === 'button' || element.control === 'link') &&
      element.unseen === undefined &&
      element.containers.includes(cover.container),
  );
  const rate = (element: ElementDescription) => {
    const text = normalizeText(element.text || element.ariaLabel || element.title);
    if (text.length > MAX_CAPTION) return 0;
    const isButton = element.control === 'button' ? 0.5 : 0;
    if (says.refuse(text)) return 3 + isButton;
    if (says.consent(text)) return 2 + isButton;
    return CLOSE.test(`${element.className} ${element.ariaLabel}`) ? 1 + isButton : 0;
  };
  const rated = within.map((element) => ({ id: element.id, rating: rate(element) })).filter(({ rating }) => rating > 0);
  return rated.toSorted((a, b) => b.rating - a.rating)[0]?.id;
}

/** Covers over planned elements, and how to dismiss them. */
export function findObstacles(frame: FrameDescription, ids: readonly string[]): Obstacle[] {
  const covered = frame.elements.filter(({ id, unseen }) => unseen === 'covered' && ids.includes(id));
  return frame.covers.flatMap((cover) => {
    const covers = covered.filter(({ coveredBy }) => coveredBy === cover.container).map(({ id }) => id);
    if (covers.length === 0) return [];
    const kind = isConsent(cover) ? 'consent' : /dialog/.test(cover.role) ? 'dialog' : 'other';
    return [{ id: cover.id, kind, dismiss: findDismissal(frame, cover), covers } satisfies Obstacle];
  });
}
