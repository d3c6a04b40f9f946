import type { WireFormat } from '../../inference/config.ts';
import { FIELD_TABLES } from './apply.ts';
import type { Destination } from '../../inference/inference.ts';

const TITLES: Record<WireFormat, string> = {
  'chat-completions': 'Chat completions clients',
  responses: 'Responses clients',
  messages: 'Messages clients',
};
const OTHERS: Record<WireFormat, string> = {
  'chat-completions': 'Any other field is carried to chat completions providers and ignored elsewhere.',
  responses: 'Any other field is refused.',
  messages: 'Any other field is ignored.',
};

const COLUMNS = [
  ['chat-completions', 'chat completions'],
  ['responses', 'responses'],
  ['messages', 'messages'],
  ['generate-content', 'generateContent'],
  ['converse', 'Converse'],
  ['built-in', '`script/…`'],
] as const satisfies [Destination['format'], string][];

function describeTable(client: WireFormat): string {
  const rows = Object.entries(FIELD_TABLES[client]).map(([path, { to, note, help }]) => {
    const cells = COLUMNS.map(([column]) => to[column]);
    const isRefused = cells.includes('refused');
    const about = [note, isRefused && help !== 'is not supported' ? help : undefined].filter(
      (text) => text !== undefined,
    );
    const [field = path, kind] = path.split(': ');
    return `| \`${field}\`${kind === undefined ? '' : `: ${kind}`} | ${cells.join(' | ')} | ${about.join('; ')} |`;
  });
  return [
    `#### ${TITLES[client]}`,
    '',
    `| Field | ${COLUMNS.map(([, title]) => title).join(' | ')} | |`,
    `|---|${'---|'.repeat(COLUMNS.length)}---|`,
    ...rows,
    '',
    OTHERS[client],
  ].join('\n');
}

/** The tables of the docs. */
export function describeFields(): string {
  return (['chat-completions', 'responses', 'messages'] as const).map(describeTable).join('\n\n');
}
