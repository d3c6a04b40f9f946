import type { Request } from 'playwright-core';

/** The encodings in which a text may appear in a body. */
function listEncodings(secret: string): string[] {
  const uri = encodeURIComponent(secret);
  return [secret, JSON.stringify(secret).slice(1, -1), uri, uri.replaceAll('%20', '+')];
}

/** HTTP Basic credentials that a script sends: decoded from the header, or from the URL of the request. */
export function readAuthorization(request: Request): string {
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(request.headers()['authorization'] ?? '') ?? [];
  if (encoded !== '') return Buffer.from(encoded, 'base64').toString();
  const { username = '', password = '' } = URL.parse(request.url()) ?? {};
  if (password === '') return '';
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    // Not encoded as an address should be.
    return `${username}:${password}`;
  }
}

/** Finds the values that were typed, in whatever encoding, in requests. Values of up to two characters are left out. */
export class TypedValues {
  readonly #encodings: readonly string[][];

  constructor(values: readonly string[]) {
    this.#encodings = values.filter((value) => value.length > 2).map(listEncodings);
  }

  get isEmpty(): boolean {
    return this.#encodings.length === 0;
  }

  /** How many of the values a text holds. */
  count(text: string): number {
    return this.#encodings.filter((encodings) => encodings.some((encoding) => text.includes(encoding))).length;
  }

  /** How many of the values the body of a request, or its HTTP authentication, holds. */
  countIn(request: Request): number {
    let body: string | null;
    try {
      body = request.postData();
    } catch {
      return 0;
    }
    return this.count(`${body ?? ''}\n${readAuthorization(request)}`);
  }
}
