import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import type { Command } from 'commander';
import { parse } from 'yaml';
import type { PermissionPolicy, ToolConfig } from '../agents/contract/tools.ts';
import { errorText } from '../platform/errors.ts';
import { omitUndefined } from '../platform/records.ts';
import { CliError } from './cli-error.ts';

type Tools = 'allow' | 'ask' | 'deny';
export type DefinitionFlags = { name?: string; model?: string; system?: string; tools?: Tools; file?: string };

/** The flags that say what an agent is; they go over the file. */
export function addDefinitionFlags(command: Command): Command {
  return command
    .option('--name <name>', 'name of the agent')
    .option('--model <model>', 'model, for instance script/demo or openai/gpt-5')
    .option('--system <text>', 'system prompt')
    .addOption(new Option('--tools <policy>', 'policy of the built-in tools').choices(['allow', 'ask', 'deny']))
    .option('--file <path>', 'definition in YAML or JSON, with the fields of the API');
}

export function buildToolset(policy: Tools): ToolConfig {
  const type: PermissionPolicy['type'] = `always_${policy}`;
  return { type: 'agent_toolset', defaultConfig: { enabled: true, permissionPolicy: { type } }, configs: [] };
}

function readDefinition(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${errorText(error).split('\n')[0]}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CliError(`${path} must hold one object: name, modelName, systemPrompt, tools …`);
  }
  return value as Record<string, unknown>;
}

/** The fields that file and flags name, as the API takes them. */
export function readFields(flags: DefinitionFlags): Record<string, unknown> {
  return {
    ...(flags.file === undefined ? {} : readDefinition(flags.file)),
    ...omitUndefined({ name: flags.name, modelName: flags.model, systemPrompt: flags.system }),
    ...(flags.tools === undefined ? {} : { tools: [buildToolset(flags.tools)] }),
  };
}
