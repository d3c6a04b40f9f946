import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { ScriptedAnswer } from '../../test/support/model-server/server.ts';
import type { Answer } from '../../test/support/service-model.ts';
import { callTools, readChat } from '../../test/support/service-model.ts';
import type { Chat } from '../../test/support/chat.ts';
import { textOf } from '../../test/support/chat.ts';
import type { Service } from '../../test/support/service.ts';
import type { TestMcp } from '../../test/support/mcp/server.ts';

/** The services that a scenario uses. */
export type Bench = { service: Service; mcp: TestMcp };

/** The result of the session. */
export type Outcome = {
  events: EventEnvelope[];
  /** each request of the model as text, message by message */
  requests: string[][];
  /** the stop reason of its last turn */
  stop: { type: string; code?: string };
  chat: Chat;
};

/** One failing or awkward situation in a session, and the expected reaction of the service. */
export type Scenario = {
  name: string;
  /** the model's answers, in order; after them "ok" */
  play: readonly Answer[];
  /** fields of the agent; default: all built-in tools, allowed */
  agent?: (bench: Bench) => object;
  /** Opens the session; default: one session of the agent. */
  open?: (bench: Bench) => Promise<Chat>;
  /** Talks in the session until its last turn has ended; default: one prompt. */
  talk?: (chat: Chat, bench: Bench) => Promise<unknown>;
  /** Throws if the session did not end as expected. */
  check: (outcome: Outcome) => void;
};

export const resultsOf = ({ events }: Outcome): EventEnvelope[] =>
  events.filter(({ type }) => type === 'agent.tool_result' || type === 'agent.mcp_tool_result');

export const messagesOf = ({ events }: Outcome): string[] =>
  events.filter(({ type }) => type === 'agent.message').map(textOf);

/** The last text that the model read before its answer of this number. */
export const lastRead = ({ requests }: Outcome, number: number): string => requests[number]?.at(-1) ?? '';

export const readRequests = ({ service }: Bench): string[][] => service.model.requests.map(readChat);

/** One tool call per argument. */
export const repeat = (count: number, make: (number: number) => ScriptedAnswer): ScriptedAnswer[] =>
  Array.from({ length: count }, (_, number) => make(number));

export const terminal = (...commands: string[]): ScriptedAnswer =>
  callTools(commands.map((command) => ['terminal', { command }]));

/** Tools with the given policy for each toolset; all others allowed. */
export const withPolicies = (policies: Record<string, string>): object => ({
  tools: [
    {
      type: 'agent_toolset',
      defaultConfig: { permissionPolicy: { type: 'always_allow' } },
      configs: Object.entries(policies).map(([name, type]) => ({ name, permissionPolicy: { type } })),
    },
  ],
});
