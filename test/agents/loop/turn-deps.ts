import type { Waiting } from '../../../src/agents/contract/events.ts';
import type { ToolConfig } from '../../../src/agents/contract/tools.ts';
import type { Change, NewPendingAction } from '../../../src/agents/log/entry.ts';
import type { LogEvent } from '../../../src/agents/log/event.ts';
import { toLogEvent } from '../../../src/agents/log/read.ts';
import { buildInbound, buildTurnStart } from '../../../src/agents/log/build-events.ts';
import type { PendingActionState, Turn, TurnDeps } from '../../../src/agents/loop/turn/types.ts';
import type { Tool } from '../../../src/agents/tools/tool.ts';
import { SCRIPT_MODEL, streamScript } from '../../../src/inference/script.ts';
import type { Inference, ModelRequest } from '../../../src/inference/model.ts';
import { newId } from '../../../src/platform/ids.ts';
import { buildPorts } from '../../support/tool-ports.ts';

const TURN_ID = 'trn_1';
const MODEL = { name: SCRIPT_MODEL, contextWindow: 100_000, vision: false };

/** A tool that records its inputs. */
export function buildRecordingTool(name: 'terminal' | 'read_file', run?: (signal: AbortSignal) => Promise<void>) {
  const inputs: unknown[] = [];
  const tool: Tool = {
    name,
    toolset: name === 'terminal' ? 'terminal' : 'file',
    description: '',
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    readOnly: name === 'read_file',
    parallelism: () => (name === 'read_file' ? 'shared' : 'exclusive'),
    async run(input, { signal }) {
      inputs.push(input);
      await run?.(signal);
      return { content: `result of ${name}`, isError: false };
    },
  };
  return { tool, inputs };
}

export const allowAll: ToolConfig = {
  type: 'agent_toolset',
  defaultConfig: { permissionPolicy: { type: 'always_allow' } },
};
export const askAlways: ToolConfig = {
  type: 'agent_toolset',
  defaultConfig: { permissionPolicy: { type: 'always_ask' } },
};

/** A turn with its prompt in an in-memory journal, the script model and these tools. */
export function openTurn(options: { prompt?: string; tools?: Tool[]; configs?: ToolConfig[] } = {}) {
  const { prompt = 'Hello', tools = [], configs = [allowAll] } = options;
  const events: LogEvent[] = [];
  const changes: Change[] = [];
  const requests: ModelRequest[] = [];
  const actions: PendingActionState[] = [];
  const live: { type: string; status: string | null }[] = [];
  const errors: unknown[] = [];
  const waits: (Waiting | null)[] = [];
  const abort = new AbortController();
  const drain = new AbortController();

  const append = async (change: Change): Promise<void> => {
    changes.push(structuredClone(change));
    for (const event of change.events) {
      const at = { sessionId: 'ses_1', sequence: events.length + 1, processedAt: null };
      events.push(toLogEvent(event, { ...at, createdAt: new Date().toISOString() }));
    }
    const open = (action: NewPendingAction) => ({ ...action, state: 'pending' as const, answer: null });
    actions.push(...(change.asks ?? []).map(open));
  };
  const inference: Inference = {
    forOrganization: () => inference,
    findModel: (name) => (name === SCRIPT_MODEL ? MODEL : undefined),
    stream(request, signal) {
      requests.push(request);
      return streamScript(request, signal);
    },
    close: () => Promise.resolve(),
  };
  const turn: Turn = {
    id: TURN_ID,
    startedAt: new Date(),
    steps: 0,
    step: null,
    usage: {},
    unwritten: [],
    unwrittenCalls: [],
    consumed: [],
    toolState: {},
  };
  const deps: TurnDeps = {
    session: {
      id: 'ses_1',
      organizationId: 'org_1',
      agentId: 'agt_1',
      subjectId: 'anna',
      modelName: SCRIPT_MODEL,
      systemPrompt: 'Be brief.',
      promptNotes: [],
      startedOn: new Date().toISOString().slice(0, 10),
      toolConfigs: configs,
      effort: null,
    },
    journal: { events, append, refresh: () => Promise.resolve() },
    inference,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    mcp: {
      listTools: () => Promise.resolve([]),
      listUnavailable: () => Promise.resolve([]),
      listInstructions: () => Promise.resolve([]),
      call: () => Promise.reject(new Error('there is no MCP server')),
    },
    ports: buildPorts(),
    attachments: { read: () => Promise.resolve([]), readText: () => Promise.resolve({ fault: 'none' }) },
    readPermissions: () => Promise.resolve({ yoloMode: false, approved: new Set<string>() }),
    readPendingActions: () => Promise.resolve(actions),
    openSandbox: () => Promise.reject(new Error('there is no sandbox')),
    reportWaiting: async (waiting) => void waits.push(waiting),
    sendLive: ({ type, status }) => live.push({ type, status }),
    signal: abort.signal,
    drain: drain.signal,
    limits: { maxSteps: 10, customToolTimeoutMs: 60_000, retryForMs: 60_000, silenceMs: 60_000 },
    logError: (error) => errors.push(error),
  };
  const message = buildInbound({ id: newId('evt'), turnId: TURN_ID }, 'received', {
    type: 'user.message',
    content: [{ type: 'text', text: prompt }],
  });
  const start = buildTurnStart({ turnId: TURN_ID }, { kind: 'message', eventId: message.id });
  const at = { sessionId: 'ses_1', processedAt: null, createdAt: new Date().toISOString() };
  events.push(toLogEvent(message, { ...at, sequence: 1 }), toLogEvent(start, { ...at, sequence: 2 }));
  return { turn, deps, events, changes, requests, actions, live, errors, waits, abort, drain };
}

export const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);
