/** What a note or a skill must not tell a later session: orders to the model, and ways to carry secrets off. */
const PATTERNS: readonly [kind: string, pattern: RegExp][] = [
  [
    'prompt_injection',
    /\b(?:ignore|disregard|forget)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|all|your|the)\s+(?:\w+\s+){0,2}(?:instructions|rules|guidelines|prompts?)\b/i,
  ],
  ['role_change', /\byou\s+are\s+now\s+(?:a|an|in|no longer)\b/i],
  [
    'prompt_override',
    /\b(?:system\s+prompt\s+override|new\s+system\s+prompt|override\s+(?:the\s+)?system\s+prompt)\b/i,
  ],
  ['concealment', /\bdo\s+not\s+(?:tell|inform|mention\s+(?:this|it)\s+to)\s+the\s+user\b/i],
  ['bypass', /\bact\s+as\s+(?:if|though)\s+you\s+(?:have|had)\s+no\s+(?:restrictions|limits|rules)\b/i],
  ['guidance_marker', /<\/?user-guidance\b/i],
  ['ssh_access', /authorized_keys/i],
];

/** A command, and what must not follow it on its line. One pattern for both would take quadratic time. */
const COMMANDS: readonly [kind: string, command: RegExp, argument: RegExp][] = [
  ['exfiltration', /\b(?:curl|wget)\b/i, /\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)/i],
  ['secret_files', /\bcat\s/i, /\.env\b|\.netrc|\.pgpass|\.npmrc|credentials|id_(?:rsa|ed25519)/i],
];

/** Invisible characters, except joiners, which emoji and several scripts need. */
const INVISIBLE = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

/** The kind of danger that a text carries into the prompts of later sessions, or undefined. */
export function findDanger(text: string): string | undefined {
  if (INVISIBLE.test(text)) return 'invisible_characters';
  return (PATTERNS.find(([, pattern]) => pattern.test(text)) ?? findCommand(text))?.[0];
}

function findCommand(text: string): [kind: string] | undefined {
  for (const line of text.split('\n')) {
    for (const [kind, command, argument] of COMMANDS) {
      const found = command.exec(line);
      if (found !== null && argument.test(line.slice(found.index + found[0].length))) return [kind];
    }
  }
  return undefined;
}
