/** Messages below this subject are stored. Only `publish` may use it, and `publish` may use no other. */
export const EVENTS = 'capstan.events.';

/** Throws a programming error if a message that is only sent would be stored. */
export function requireSendable(subject: string): void {
  if (subject.startsWith(EVENTS)) throw new TypeError(`${subject} is to be published, not sent.`);
}

export function requirePublishable(subject: string): void {
  if (!subject.startsWith(EVENTS)) throw new TypeError(`${subject} is to be sent, not published.`);
}

/** Whether a subscription to `pattern` hears `subject`; `a.>` hears `a.b` and all below, not `a`. */
export function matchesSubject(pattern: string, subject: string): boolean {
  if (!pattern.endsWith('>')) return pattern === subject;
  const prefix = pattern.slice(0, -1);
  return subject.length > prefix.length && subject.startsWith(prefix);
}
