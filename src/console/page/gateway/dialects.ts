// Tests: test/console/text.test.ts
/** The three ways to ask the gateway the same. */
export type Dialect = 'chat' | 'responses' | 'messages';

export const DIALECTS: readonly (readonly [Dialect, string])[] = [
  ['chat', 'Chat completions'],
  ['responses', 'Responses'],
  ['messages', 'Messages'],
];

const MAX_TOKENS = 1024;

export function buildCall(dialect: Dialect, model: string, text: string): { path: string; body: object } {
  switch (dialect) {
    case 'chat':
      return { path: 'v1/chat/completions', body: { model, messages: [{ role: 'user', content: text }] } };
    case 'responses':
      return { path: 'v1/responses', body: { model, input: text } };
    case 'messages':
      return {
        path: 'v1/messages',
        body: { model, max_tokens: MAX_TOKENS, messages: [{ role: 'user', content: text }] },
      };
  }
}

type Part = { text?: unknown; content?: unknown; message?: { content?: unknown } };

/** All texts of an answer, whatever its dialect. */
function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  if (typeof value !== 'object' || value === null) return [];
  const { text, content, message } = value as Part;
  return [text, content, message?.content].flatMap(collectTexts);
}

export function readAnswer(dialect: Dialect, answer: Readonly<Record<string, unknown>>): string {
  const field = { chat: 'choices', responses: 'output', messages: 'content' }[dialect];
  return collectTexts(answer[field]).join('\n');
}

/** The same request for a terminal; the key stays out of it. */
export function writeCurl(address: string, body: object): string {
  const quoted = JSON.stringify(body, undefined, 2).replaceAll("'", String.raw`'\''`);
  return [
    `curl ${address} \\`,
    `  -H "x-api-key: $CAPSTAN_API_KEY" -H 'content-type: application/json' \\`,
    `  -d '${quoted}'`,
  ].join('\n');
}
