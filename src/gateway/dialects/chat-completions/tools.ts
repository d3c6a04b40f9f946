import type { ModelTool, ToolChoice } from '../../../inference/model.ts';
import { isRecord, omitUndefined } from '../../../platform/records.ts';
import { invalid, unsupported } from '../../gateway-error.ts';
import type { JsonObject } from '../dialect.ts';
import { CHAT_ONLY } from './forward-only.ts';
import type { ReportForwardOnly } from './forward-only.ts';
import {
  isAbsent,
  readList,
  readName,
  readObject,
  readOptionalBoolean,
  readOptionalList,
  readOptionalText,
} from '../fields.ts';

/** A function declaration. Both OpenAI formats have the same fields; chat completions nests them one level deeper. */
export function readFunction(body: JsonObject, path: string): ModelTool {
  return {
    name: readName(body['name'], `${path}.name`),
    description: readOptionalText(body['description'], `${path}.description`) ?? '',
    parameters: isAbsent(body['parameters'])
      ? { type: 'object', properties: {} }
      : readObject(body['parameters'], `${path}.parameters`),
    ...omitUndefined({ strict: readOptionalBoolean(body['strict'], `${path}.strict`) }),
  };
}

/** Throws when two tools have the same name. `pathOf` gives the path of a tool's name. */
export function checkNames(tools: readonly ModelTool[], pathOf: (index: number) => string): void {
  const seen = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (seen.has(name)) throw invalid(pathOf(index), `${name.slice(0, 80)} is declared twice`);
    seen.add(name);
  }
}

function readTool(item: unknown, path: string, report: ReportForwardOnly): ModelTool[] {
  const tool = readObject(item, path);
  if (tool['type'] === 'custom') {
    report(unsupported(`${path}.type`, `must be function; ${CHAT_ONLY}`));
    return [];
  }
  if (tool['type'] !== 'function') throw unsupported(`${path}.type`, 'must be function');
  return [readFunction(readObject(tool['function'], `${path}.function`), `${path}.function`)];
}

type OfferedTools = { tools: ModelTool[]; toolChoice: ToolChoice | undefined };

function nameOf(value: JsonObject): unknown {
  return isRecord(value['function']) ? value['function']['name'] : value['name'];
}

function requireTool(name: string, tools: readonly ModelTool[], path: string): { name: string } {
  if (!tools.some((tool) => tool.name === name)) throw invalid(path, `no tool is called ${name.slice(0, 80)}`);
  return { name };
}

/** Upstreams have no list of allowed tools, so the other tools are left out. */
function readAllowed(choice: JsonObject, tools: ModelTool[]): OfferedTools {
  const allowed = isRecord(choice['allowed_tools']) ? choice['allowed_tools'] : choice;
  const names = readList(allowed['tools'], 'tool_choice.tools').map((item, index) =>
    readName(nameOf(readObject(item, `tool_choice.tools[${index}]`)), `tool_choice.tools[${index}].name`),
  );
  const toolChoice = allowed['mode'] === 'required' ? 'required' : 'auto';
  return { tools: tools.filter((tool) => names.includes(tool.name)), toolChoice };
}

/** `tool_choice` of both OpenAI formats. */
export function readToolChoice(value: unknown, tools: ModelTool[]): OfferedTools {
  if (isAbsent(value)) return { tools, toolChoice: undefined };
  if (value === 'auto' || value === 'none' || value === 'required') {
    if (value === 'required' && tools.length === 0) throw invalid('tool_choice', 'needs tools');
    return { tools, toolChoice: value };
  }
  if (!isRecord(value)) throw invalid('tool_choice', 'must be auto, none, required or an object');
  if (value['type'] === 'allowed_tools') return readAllowed(value, tools);
  if (value['type'] !== 'function') throw unsupported('tool_choice.type', 'must be function or allowed_tools');
  return { tools, toolChoice: requireTool(readName(nameOf(value), 'tool_choice.name'), tools, 'tool_choice') };
}

export function readTools(body: JsonObject, report: ReportForwardOnly): OfferedTools {
  const tools = readOptionalList(body['tools'], 'tools').flatMap((item, index) =>
    readTool(item, `tools[${index}]`, report),
  );
  checkNames(tools, (index) => `tools[${index}].function.name`);
  return readToolChoice(body['tool_choice'], tools);
}
