/** The path of a field; some messages name the part of the request that it is in. */
const ENTRY = /^(?:(?:body|path)\.)?(?!body: )([\w.[\]*]+): /;
const BETWEEN = /; (?=(?:(?:body|path)\.)?[\w.[\]*]+: )/;
const MAX_LENGTH = 10_000;

/**
 * What is wrong with each field of a request, by its path without the place in an array. Messages read
 * `auth.token: is required; models[0]: …`; the map is empty for any other.
 */
export function readFieldErrors(message: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of message.slice(0, MAX_LENGTH).split(BETWEEN)) {
    const [head, path] = ENTRY.exec(entry) ?? [];
    if (head === undefined || path === undefined) return new Map();
    const bracket = path.indexOf('[');
    const name = bracket === -1 ? path : path.slice(0, bracket);
    if (!found.has(name)) found.set(name, entry.slice(head.length));
  }
  return found;
}
