const PREFIXED = [
  'sk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,}',
  '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}',
  'gh[pousr]_[A-Za-z0-9]{30,}',
  'github_pat_[A-Za-z0-9_]{30,}',
  'glpat-[A-Za-z0-9_-]{20,}',
  'xox[abprs]-[A-Za-z0-9-]{10,}',
  'A[KS]IA[0-9A-Z]{16}',
  'AIza[A-Za-z0-9_-]{35}',
  'hf_[A-Za-z0-9]{30,}',
  'npm_[A-Za-z0-9]{36}',
  'eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}',
].join('|');

const TOKEN = new RegExp(`(?<![A-Za-z0-9_-])(?:${PREFIXED})`, 'g');
const BEARER = /\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/=-]{16,}/g;
const PRIVATE_KEY = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g;
/** Begins with the last character of the scheme: from each character of a long word the engine would read to its end. */
const URL_PASSWORD = /([a-z0-9+.-]:\/\/[^\s/:@"']*:)[^\s/@"']+@/gi;
/** `NAME=value` and `"name": "value"` where the name says that it is secret and the value looks like one. */
const NAMED =
  /((?:^|[\s"'{,;])[A-Za-z0-9_-]*(?:api[_-]?key|secret|passwd|password|access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret)\\?["']?\s*[=:]\s*\\?["']?)([^\s"'\\,;}]{8,})/gi;

/** What an assignment gives when it is code or a reference rather than a value. */
const REFERENCE =
  /^(process\.|os\.|env\.|self\.|this\.|config|\$|<|\*|null|none|true|false|undefined|string\b|.*[()[\]])/i;

/** Replaces what looks like a credential. The kind stays readable, the value does not. */
export function redactSecrets(text: string): string {
  return text
    .replace(PRIVATE_KEY, '-----BEGIN $1-----[redacted]-----END $1-----')
    .replace(TOKEN, (token) => `${token.slice(0, 4)}…[redacted]`)
    .replace(BEARER, '$1$2[redacted]')
    .replace(URL_PASSWORD, '$1[redacted]@')
    .replace(NAMED, (whole: string, name: string, value: string) =>
      REFERENCE.test(value) || value.includes('[redacted]') ? whole : `${name}[redacted]`,
    );
}
