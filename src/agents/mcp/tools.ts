import { isRecord } from '../../platform/records.ts';
import type { McpOperation, McpTarget } from '../contract/mcp.ts';
import { buildToolName } from './tool-name.ts';

/** A tool as the model is offered it. */
export type McpTool = {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  target: McpTarget;
};

/** What a server said about itself. */
export type ServerListing = {
  protocolVersion: string;
  /** how to use the server, in its own words; empty: it says nothing */
  instructions: string;
  tools: {
    name: string;
    description: string;
    parameters: Record<string, unknown>;
    readOnly: boolean;
    idempotent: boolean;
  }[];
  hasResources: boolean;
  hasPrompts: boolean;
};

const MAX_TOOLS = 500;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 8000;
const MAX_SCHEMA = 64 * 1024;
const ANYTHING = { type: 'object', properties: {} };

/** The tools in an answer to `tools/list`, as far as they can be understood: one that cannot be harms no other. */
export function readTools(answers: readonly unknown[]): ServerListing['tools'] {
  const seen = new Set<string>();
  return answers
    .flatMap((answer) => (isRecord(answer) && Array.isArray(answer['tools']) ? (answer['tools'] as unknown[]) : []))
    .flatMap((tool) => {
      if (!isRecord(tool)) return [];
      const { name, description } = tool;
      if (typeof name !== 'string' || name === '' || name.length > MAX_NAME || seen.has(name)) return [];
      seen.add(name);
      const hints = isRecord(tool['annotations']) ? tool['annotations'] : {};
      return [
        {
          name,
          description: typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION) : '',
          parameters: readSchema(tool['inputSchema']),
          readOnly: hints['readOnlyHint'] === true,
          idempotent: hints['readOnlyHint'] === true || hints['idempotentHint'] === true,
        },
      ];
    })
    .slice(0, MAX_TOOLS);
}

/** A schema that providers take: an object's, of moderate size. Anything else is replaced by one that allows all. */
function readSchema(schema: unknown): Record<string, unknown> {
  if (!isRecord(schema) || (schema['type'] !== undefined && schema['type'] !== 'object')) return ANYTHING;
  const { properties } = schema;
  if (properties !== undefined && !isRecord(properties)) return ANYTHING;
  if (JSON.stringify(schema).length > MAX_SCHEMA) return ANYTHING;
  return { ...schema, type: 'object', properties: properties ?? {} };
}

const text = (description: string) => ({ type: 'string', description });

const HELPERS: Record<'resources' | 'prompts', { operation: McpOperation; description: string; parameters: object }[]> =
  {
    resources: [
      {
        operation: 'list_resources',
        description: 'Lists the resources and resource templates that the server offers.',
        parameters: { type: 'object', properties: { cursor: text('nextCursor of an earlier answer') } },
      },
      {
        operation: 'read_resource',
        description: 'Reads a resource of the server.',
        parameters: { type: 'object', properties: { uri: text('The URI of the resource') }, required: ['uri'] },
      },
    ],
    prompts: [
      {
        operation: 'list_prompts',
        description: 'Lists the prompts that the server offers, with their arguments.',
        parameters: { type: 'object', properties: { cursor: text('nextCursor of an earlier answer') } },
      },
      {
        operation: 'get_prompt',
        description: 'Gets a prompt of the server, filled in with arguments.',
        parameters: {
          type: 'object',
          properties: {
            name: text('The name of the prompt'),
            arguments: { type: 'object', additionalProperties: { type: 'string' } },
          },
          required: ['name'],
        },
      },
    ],
  };

/** Everything that the model may be offered of a server. */
export function buildTools(
  server: string,
  listing: ServerListing,
  enabled: { resources: boolean; prompts: boolean },
): McpTool[] {
  const own = listing.tools.map(({ name, description, parameters, readOnly, idempotent }) => ({
    name: buildToolName(server, name),
    description,
    parameters,
    target: { server, tool: name, operation: 'tool' as const, readOnly, idempotent },
  }));
  const taken = new Set(own.map(({ name }) => name));
  const helpers = [
    ...(enabled.resources && listing.hasResources ? HELPERS.resources : []),
    ...(enabled.prompts && listing.hasPrompts ? HELPERS.prompts : []),
  ].map(({ operation, description, parameters }) => ({
    name: buildToolName(server, operation, taken.has(buildToolName(server, operation))),
    description: `${description} (Server: ${server})`,
    parameters: parameters as Record<string, unknown>,
    target: { server, tool: operation, operation, readOnly: true, idempotent: true },
  }));
  return [...own, ...helpers];
}
