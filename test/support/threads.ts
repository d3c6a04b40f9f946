import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import { textOf } from './chat.ts';

export const ALLOW = { permissionPolicy: { type: 'always_allow' } };

/** Tools of an agent that may delegate; everything else by the default, or by its own config. */
export const withDelegation = (defaults: object = ALLOW, ...configs: object[]): object[] => [
  { type: 'agent_toolset', defaultConfig: defaults, configs: [{ name: 'delegation', ...ALLOW }, ...configs] },
];

export const of = (events: readonly EventEnvelope[], type: string): EventEnvelope[] =>
  events.filter((event) => event.type === type);

/** The result of the call of `delegate_task`. */
export function readAnswer(events: readonly EventEnvelope[]) {
  const result = of(events, 'agent.tool_result').find(({ payload }) => payload['name'] === 'delegate_task');
  return {
    isError: result?.payload['is_error'],
    value: JSON.parse(textOf(result)) as { results: Record<string, unknown>[]; error?: string },
  };
}
