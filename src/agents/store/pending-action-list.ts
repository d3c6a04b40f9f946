import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf } from '../../platform/store/pages.ts';
import { ACTION_EVENTS, MAX_ACTION_INPUT, OpenActionType } from '../contract/pending-actions.ts';
import type { ActionState, OpenAction, OpenActionQuery } from '../contract/pending-actions.ts';
import type { ApprovalScope } from '../contract/events.ts';

type OpenActionRow = {
  id: string;
  type: string;
  state: ActionState;
  session_id: string;
  title: string | null;
  agent_id: string;
  agent_name: string;
  agent_version: number;
  subject_id: string;
  automation_id: string | null;
  sequence: number | null;
  tool_use_id: string;
  tool_name: string;
  toolset: string | null;
  mcp_server_name: string | null;
  input: unknown;
  input_truncated: boolean;
  scopes: ApprovalScope[] | null;
  approvers: string[] | null;
  separation_of_duties: boolean;
  question: string | null;
  choices: string[] | null;
  created_at: Date;
  deadline: Date | null;
  answered_at: Date | null;
  answered_by: { type: 'key' | 'user'; id: string } | null;
  answered_by_name: string | null;
  answer: Record<string, unknown> | null;
};

const COLUMNS = `p.id, p.type, p.state, p.session_id, s.title, s.agent_id, a.name AS agent_name, s.agent_version,
  s.subject_id, s.automation_id, p.sequence, p.tool_use_id, coalesce(e.payload->>'tool_name', p.tool_name) AS tool_name,
  e.payload->>'toolset' AS toolset, e.payload->>'mcp_server_name' AS mcp_server_name,
  CASE WHEN length((e.payload->'input')::text) > ${MAX_ACTION_INPUT}
    THEN to_jsonb(left((e.payload->'input')::text, ${MAX_ACTION_INPUT})) ELSE e.payload->'input' END AS input,
  coalesce(length((e.payload->'input')::text) > ${MAX_ACTION_INPUT}, false) AS input_truncated,
  e.payload->'scopes' AS scopes, e.payload->'approvers' AS approvers,
  coalesce(e.payload->'separation_of_duties' = 'true', false) AS separation_of_duties, e.payload->>'question' AS question, nullif(e.payload->'choices', 'null') AS choices,
  p.created_at, p.deadline, p.answered_at, p.answered_by,
  coalesce((SELECT k.name FROM api_keys k WHERE k.id = p.answered_by->>'id'),
    (SELECT coalesce(u.name, u.email) FROM users u WHERE u.id = p.answered_by->>'id')) AS answered_by_name, p.answer`;
// The sequence leads to the event by its index.
const FROM = `FROM pending_actions p JOIN sessions s ON s.id = p.session_id JOIN agents a ON a.id = s.agent_id
  LEFT JOIN events e ON e.session_id = p.session_id AND e.sequence = p.sequence`;

const KEYS: Keyset['keys'] = [
  { sql: 'p.created_at', type: 'timestamptz' },
  { sql: 'p.id', type: 'text' },
];
const KEYSETS: Readonly<Record<OpenActionQuery['order'], Keyset>> = {
  oldest: { name: 'oldest', keys: KEYS, direction: 'ASC' },
  newest: { name: 'newest', keys: KEYS, direction: 'DESC' },
};

function readType(type: string): OpenActionType {
  const found = OpenActionType.options.find((name) => ACTION_EVENTS[name] === type);
  if (found === undefined) throw new Error(`pending action of unknown type ${type}`);
  return found;
}

function readAction(row: OpenActionRow): OpenAction {
  return {
    object: 'pending_action',
    id: row.id,
    type: readType(row.type),
    state: row.state,
    sessionId: row.session_id,
    sessionTitle: row.title,
    agentId: row.agent_id,
    agentName: row.agent_name,
    agentVersion: row.agent_version,
    subjectId: row.subject_id,
    automationId: row.automation_id,
    sequence: row.sequence,
    toolUseId: row.tool_use_id,
    toolName: row.tool_name,
    toolset: row.toolset,
    mcpServerName: row.mcp_server_name,
    input: row.input,
    inputTruncated: row.input_truncated,
    scopes: row.scopes ?? [],
    approvers: row.approvers,
    separationOfDuties: row.separation_of_duties,
    question: row.question,
    choices: row.choices,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.deadline?.toISOString() ?? null,
    answeredAt: row.answered_at?.toISOString() ?? null,
    answeredBy: row.answered_by && { ...row.answered_by, name: row.answered_by_name },
    answer: row.answer,
  };
}

/** What waits, or waited, for people in the sessions of an organization. */
export async function listOpenActions(
  db: Queryable,
  organizationId: string,
  query: OpenActionQuery,
): Promise<PageOf<OpenAction>> {
  const { state = ['pending'], type, order, limit, cursor } = query;
  // Spelled out, the state lets the database use the index of what is open.
  const isOpen = state.every((name) => name === 'pending');
  const from = `${FROM} WHERE p.organization_id = $1 AND ${isOpen ? `p.state = 'pending' AND` : ''}
    p.state = ANY($2::text[]) AND ($3::text[] IS NULL OR p.type = ANY($3)) AND ($4::text IS NULL OR s.agent_id = $4)
    AND ($5::text IS NULL OR s.subject_id = $5) AND ($6::text IS NULL OR p.session_id = $6)`;
  const params = [
    organizationId,
    state,
    type?.map((name) => ACTION_EVENTS[name]) ?? null,
    query.agentId ?? null,
    query.subjectId ?? null,
    query.sessionId ?? null,
  ];
  const statement = { columns: COLUMNS, from, params, keyset: KEYSETS[order], counted: false };
  const found = await readPage<OpenActionRow>(db, statement, { limit, cursor });
  return { ...found, rows: found.rows.map(readAction) };
}

/** One of them, by the id of the event that asks. */
export async function findOpenAction(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<OpenAction | undefined> {
  const { rows } = await db.query<OpenActionRow>(
    `SELECT ${COLUMNS} ${FROM} WHERE p.id = $1 AND p.organization_id = $2`,
    [id, organizationId],
  );
  return rows[0] && readAction(rows[0]);
}
