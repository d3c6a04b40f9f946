const SUSPECT = /\\u(?:0000|d[89a-f])/;

/**
 * JSON text as PostgreSQL takes it. NUL cannot be stored and a lone surrogate is not Unicode: both become U+FFFD.
 * `JSON.stringify` writes every valid pair as it is, so an escaped surrogate in its output is a lone one.
 */
export function encodeJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!SUSPECT.test(text)) return text;
  return text.replaceAll(/\\(u0000|ud[89a-f][0-9a-f]{2}|.)/g, (escape, code: string) =>
    code.length > 1 ? '\ufffd' : escape,
  );
}
