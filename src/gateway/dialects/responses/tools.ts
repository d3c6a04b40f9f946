import type { ModelTool, ToolChoice } from '../../../inference/model.ts';
import { isRecord } from '../../../platform/records.ts';
import { invalid, unsupported } from '../../gateway-error.ts';
import { readFunction } from '../chat-completions/tools.ts';
import type { JsonObject } from '../dialect.ts';
import {
  isAbsent,
  nameType,
  readList,
  readName,
  readObject,
  readOptionalChoice,
  readOptionalList,
  readOptionalText,
  readText,
} from '../fields.ts';
import { buildToolNames } from './tool-names.ts';
import type { ToolNames } from './tool-names.ts';

export type Tools = { names: ToolNames; tools: ModelTool[]; toolChoice: ToolChoice | undefined };

/** How to disable these tools in clients that send them by default. */
const HINTS: Record<string, string> = {
  web_search: 'set web_search = "disabled" in the client',
  tool_search: 'use a model name that the client does not know; it then leaves tool search out',
  local_shell: 'let the client declare its shell as a function',
  image_generation: 'disable image generation in the client',
};

function refuseTool(type: unknown, path: string): Error {
  const name = nameType(type);
  const hint = Object.entries(HINTS).find(([prefix]) => name.startsWith(prefix))?.[1];
  const advice = hint ?? 'disable it in the client';
  return unsupported(path, `tools of type ${name} are not supported, only function, custom and namespace; ${advice}`);
}

/** Grammars are not enforced while decoding; the model gets them as instructions. */
function describeFormat(value: unknown, path: string): string {
  if (isAbsent(value)) return '';
  const format = readObject(value, path);
  const type = readOptionalChoice(format['type'], `${path}.type`, ['text', 'grammar']);
  if (type !== 'grammar') return '';
  const syntax = readOptionalChoice(format['syntax'], `${path}.syntax`, ['lark', 'regex']);
  if (syntax === undefined) throw invalid(`${path}.syntax`, 'is required');
  const definition = readText(format['definition'], `${path}.definition`);
  return `\n\nThe field \`input\` must match this ${syntax === 'lark' ? 'Lark grammar' : 'regular expression'} exactly:\n${definition}`;
}

function readCustom(tool: JsonObject, path: string): Omit<ModelTool, 'name'> {
  const description = readOptionalText(tool['description'], `${path}.description`) ?? '';
  return {
    description: `${description}${describeFormat(tool['format'], `${path}.format`)}`.trim(),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text' } },
      required: ['input'],
      additionalProperties: false,
    },
  };
}

function readMember(tool: JsonObject, path: string, namespace: Namespace | undefined, names: ToolNames): ModelTool {
  const custom = tool['type'] === 'custom';
  if (!custom && tool['type'] !== 'function') throw refuseTool(tool['type'], `${path}.type`);
  const name = readName(tool['name'], `${path}.name`);
  if (names.has(name, namespace?.name)) throw invalid(`${path}.name`, `${name.slice(0, 80)} is declared twice`);
  const { flat } = names.add({ name, namespace: namespace?.name, custom });
  const read = custom ? readCustom(tool, path) : readFunction(tool, path);
  const about = namespace === undefined || namespace.description === '' ? '' : `${namespace.description}\n\n`;
  return { ...read, name: flat, description: about + read.description };
}

type Namespace = { name: string; description: string };

function readTool(item: unknown, path: string, names: ToolNames): ModelTool[] {
  const tool = readObject(item, path);
  if (tool['type'] !== 'namespace') return [readMember(tool, path, undefined, names)];
  const namespace = {
    name: readName(tool['name'], `${path}.name`),
    description: readOptionalText(tool['description'], `${path}.description`) ?? '',
  };
  return readList(tool['tools'], `${path}.tools`).map((member, index) => {
    const at = `${path}.tools[${index}]`;
    return readMember(readObject(member, at), at, namespace, names);
  });
}

function readChosen(value: JsonObject, path: string, names: ToolNames): string {
  const name = readName(value['name'], `${path}.name`);
  const namespace = readOptionalText(value['namespace'], `${path}.namespace`);
  if (!names.has(name, namespace)) throw invalid(`${path}.name`, `no tool is called ${name.slice(0, 80)}`);
  return names.flatten(name, namespace);
}

function readToolChoice(value: unknown, tools: ModelTool[], names: ToolNames): Tools {
  if (isAbsent(value)) return { names, tools, toolChoice: undefined };
  if (value === 'auto' || value === 'none' || value === 'required') {
    if (value === 'required' && tools.length === 0) throw invalid('tool_choice', 'needs tools');
    return { names, tools, toolChoice: value };
  }
  if (!isRecord(value)) throw invalid('tool_choice', 'must be auto, none, required or an object');
  switch (value['type']) {
    case 'function':
    case 'custom':
      return { names, tools, toolChoice: { name: readChosen(value, 'tool_choice', names) } };
    case 'allowed_tools': {
      const chosen = readList(value['tools'], 'tool_choice.tools').map((item, index) => {
        const path = `tool_choice.tools[${index}]`;
        return readChosen(readObject(item, path), path, names);
      });
      const mode = readOptionalChoice(value['mode'], 'tool_choice.mode', ['auto', 'required', 'none']) ?? 'auto';
      return { names, tools: tools.filter((tool) => chosen.includes(tool.name)), toolChoice: mode };
    }
  }
  throw unsupported('tool_choice.type', 'must be function, custom or allowed_tools');
}

export function readResponsesTools(body: JsonObject): Tools {
  const names = buildToolNames();
  const tools = readOptionalList(body['tools'], 'tools').flatMap((item, index) =>
    readTool(item, `tools[${index}]`, names),
  );
  return readToolChoice(body['tool_choice'], tools, names);
}
