/** Parts of a request that the fields of a form are in. */
const PREFIX = /^(?:body|path)\./;
const MAX_LENGTH = 10_000;

/**
 * What is wrong with each field of a request, by its path without the place in an array. Messages read
 * `body.auth.token: is required; body.models[0]: …`; the map is empty for any other.
 */
export function readFieldErrors(message: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of message.slice(0, MAX_LENGTH).split(/; (?=(?:body|path)\.)/)) {
    const colon = entry.indexOf(': ');
    if (!PREFIX.test(entry) || colon === -1) return new Map();
    const path = entry.slice('body.'.length, colon);
    const bracket = path.indexOf('[');
    const name = bracket === -1 ? path : path.slice(0, bracket);
    if (!found.has(name)) found.set(name, entry.slice(colon + 2));
  }
  return found;
}
