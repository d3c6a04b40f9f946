import { randomUUID } from 'node:crypto';
import { readArguments } from '../../src/agents/tools/arguments.ts';
import { buildTools } from '../../src/agents/tools/builtin-tools.ts';
import type { Tool, ToolContext, ToolState } from '../../src/agents/tools/tool.ts';
import type { SandboxSession } from '../../src/sandbox/sandbox.ts';
import { NEVER, newTarget, openLocalSandboxes } from './sandbox.ts';
import { buildPorts } from './tool-ports.ts';

export function buildState(): ToolState {
  const values = new Map<string, string>();
  return {
    get: <T>(key: string) => (values.has(key) ? (JSON.parse(values.get(key) ?? '') as T) : undefined),
    set: (key, value) => (value === undefined ? values.delete(key) : values.set(key, JSON.stringify(value))),
  };
}

export type Answer = { isError: boolean; text: string; value: Record<string, unknown> };

/** One session in a real process sandbox, and its tools as the loop calls them. */
export async function openToolSession(ports = buildPorts()) {
  const local = await openLocalSandboxes();
  const sandbox: SandboxSession = await local.sandboxes.acquire(newTarget(), NEVER);
  const state = buildState();
  const tools = buildTools();
  const call = async (
    name: string | Tool,
    input: Record<string, unknown>,
    over: Partial<ToolContext> = {},
  ): Promise<Answer> => {
    const tool = typeof name === 'string' ? tools.find((item) => item.name === name) : name;
    if (tool === undefined) throw new Error('no such tool');
    const read = readArguments(tool.parameters, JSON.stringify(input));
    if ('error' in read) throw new Error(read.error);
    const context: ToolContext = {
      ...ports,
      callId: randomUUID(),
      sessionId: 'ses_1',
      organizationId: 'org_1',
      agentId: 'agt_1',
      subjectId: 'sub',
      sandbox: () => Promise.resolve(sandbox),
      state,
      scriptCalls: { names: [], run: () => Promise.reject(new Error('no calls here')) },
      describeImage: () => Promise.reject(new Error('no model here')),
      resultLimit: 100_000,
      readAttachment: () => Promise.resolve({ fault: 'no attachments here' }),
      signal: NEVER,
      ...over,
    };
    const { content, isError } = await tool.run(read.input, context);
    const json = content.split('\n\n[Showing')[0] ?? '';
    return { isError, text: content, value: JSON.parse(json) as Record<string, unknown> };
  };
  const write = (path: string, text: string) => sandbox.writeFile(path, Buffer.from(text));
  const read = async (path: string) => Buffer.from((await sandbox.readFile(path)).bytes).toString('utf8');
  const shell = async (command: string) =>
    (await sandbox.run({ callId: randomUUID(), command, timeoutMs: 60_000 }, NEVER)).output;
  return { call, write, read, shell, sandbox, state, close: () => local.close() };
}
