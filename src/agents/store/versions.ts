import type { Queryable } from '../../platform/db/db.ts';
import type { AgentEnvironment, McpServer, Role, Skill } from '../contract/agents.ts';
import type { Reasoning } from '../contract/reasoning.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import type { ToolConfig } from '../contract/tools.ts';
import { newId } from '../../platform/ids.ts';

/** What a version is made of. */
export type VersionContent = {
  modelName: string;
  systemPrompt: string;
  skills: Skill[];
  tools: ToolConfig[];
  roles: Role[];
  mcpServers: McpServer[];
  /** null: the defaults */
  environment: AgentEnvironment | null;
  reasoning: Reasoning | null;
  metadata: Record<string, unknown>;
};

type VersionIdentity = { id: string; agentId: string; version: number; createdAt: Date };

/** With the Markdown of the skills, which callers never see. */
export type StoredVersion = VersionContent & VersionIdentity;

/** With the names of the skills only. */
export type VersionSummary = Omit<VersionContent, 'skills'> & { skills: string[] } & VersionIdentity;

/** Columns carry a prefix, so that a version can be read beside its agent in one row. */
type Columns<S> = {
  version_id: string;
  version_agent_id: string;
  version_number: number;
  version_created_at: Date;
  model_name: string;
  system_prompt: string;
  skills: S;
  tools: ToolConfig[];
  roles: Role[];
  mcp_servers: McpServer[];
  environment: AgentEnvironment | null;
  reasoning: Reasoning | null;
  version_metadata: Record<string, unknown>;
};
export type SummaryRow = Columns<string[]>;

const COLUMNS = `v.id AS version_id, v.agent_id AS version_agent_id, v.version AS version_number,
  v.created_at AS version_created_at, v.model_name, v.system_prompt, v.tools, v.roles, v.mcp_servers, v.reasoning,
  v.environment, v.metadata AS version_metadata`;
const FULL_COLUMNS = `${COLUMNS}, v.skills`;
export const SUMMARY_COLUMNS = `${COLUMNS}, jsonb_path_query_array(v.skills, '$[*].name') AS skills`;

function read<S>(row: Columns<S>): Omit<VersionContent, 'skills'> & { skills: S } & VersionIdentity {
  return {
    id: row.version_id,
    agentId: row.version_agent_id,
    version: row.version_number,
    modelName: row.model_name,
    systemPrompt: row.system_prompt,
    skills: row.skills,
    tools: row.tools,
    roles: row.roles,
    mcpServers: row.mcp_servers,
    environment: row.environment,
    reasoning: row.reasoning,
    metadata: row.version_metadata,
    createdAt: row.version_created_at,
  };
}

export function readSummary(row: SummaryRow): VersionSummary {
  return read(row);
}

export async function insertVersion(
  tx: Queryable,
  agentId: string,
  version: number,
  content: VersionContent,
): Promise<void> {
  await tx.query(
    `INSERT INTO agent_versions (id, agent_id, version, model_name, system_prompt, skills, tools, roles, mcp_servers,
       metadata, reasoning, environment) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      newId('ver'),
      agentId,
      version,
      content.modelName,
      content.systemPrompt,
      JSON.stringify(content.skills),
      JSON.stringify(content.tools),
      JSON.stringify(content.roles),
      JSON.stringify(content.mcpServers),
      JSON.stringify(content.metadata),
      content.reasoning && JSON.stringify(content.reasoning),
      content.environment && JSON.stringify(content.environment),
    ],
  );
}

/** A version by its number, whole. */
export async function findVersion(db: Queryable, agentId: string, version: number): Promise<StoredVersion | undefined> {
  const { rows } = await db.query<Columns<Skill[]>>(
    `SELECT ${FULL_COLUMNS} FROM agent_versions v WHERE v.agent_id = $1 AND v.version = $2`,
    [agentId, version],
  );
  return rows[0] && read(rows[0]);
}

export async function findVersionSummary(
  db: Queryable,
  agentId: string,
  version: number,
): Promise<VersionSummary | undefined> {
  const { rows } = await db.query<SummaryRow>(
    `SELECT ${SUMMARY_COLUMNS} FROM agent_versions v WHERE v.agent_id = $1 AND v.version = $2`,
    [agentId, version],
  );
  return rows[0] && read(rows[0]);
}

const KEYSET: Keyset = { name: 'versions', keys: [{ sql: 'v.version', type: 'bigint' }], direction: 'DESC' };

/** Newest first. */
export async function listVersions(db: Queryable, agentId: string, page: PageRequest): Promise<PageOf<VersionSummary>> {
  const from = 'FROM agent_versions v WHERE v.agent_id = $1';
  const found = await readPage<SummaryRow>(
    db,
    { columns: SUMMARY_COLUMNS, from, params: [agentId], keyset: KEYSET },
    page,
  );
  return { ...found, rows: found.rows.map(readSummary) };
}

/** The SandboxClass that the production version of an agent names. */
export async function findSandboxClass(
  db: Queryable,
  { organizationId, agentId }: { organizationId: string; agentId: string },
): Promise<string | null> {
  const { rows } = await db.query<{ sandbox_class: string | null }>(
    `SELECT v.environment ->> 'sandboxClass' AS sandbox_class
     FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.production_version
     WHERE a.organization_id = $1 AND a.id = $2`,
    [organizationId, agentId],
  );
  return rows[0]?.sandbox_class ?? null;
}
