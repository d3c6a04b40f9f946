import { expect, test } from 'vitest';
import type { EventEnvelope } from '../../src/console/page/data/events.ts';
import { findFold } from '../../src/console/page/session/folds.ts';
import { isAbsorbed } from '../../src/console/page/session/rows/kinds.ts';

function buildEvent(sequence: number, type: string, payload: object): EventEnvelope {
  return {
    id: `evt_${sequence}`,
    sequence,
    type,
    turnId: 'trn_1',
    payload: { type, ...payload },
  } as unknown as EventEnvelope;
}

/** A log of calls, each followed by its result. */
function buildLog(calls: readonly { name: string; isError?: boolean }[]) {
  const events = calls.flatMap(({ name, isError = false }, index) => [
    buildEvent(index * 2 + 1, 'agent.tool_use', {
      id: `call_${index}`,
      name,
      input: {},
      evaluated_permission: 'allow',
    }),
    buildEvent(index * 2 + 2, 'agent.tool_result', {
      tool_use_id: `call_${index}`,
      content: [],
      is_error: isError,
      duration_ms: 10,
    }),
  ]);
  return {
    find: (sequence: number) => events[sequence - 1],
    findResult: (id: string) => events.find(({ payload }) => 'tool_use_id' in payload && payload.tool_use_id === id),
    isTurnStart: () => false,
  };
}

test('three reads and more in a row are one line; failures and other calls are not part of it', () => {
  const reads = ['read_file', 'search_files', 'read_file'].map((name) => ({ name }));
  const log = buildLog([...reads, { name: 'terminal' }, ...reads.slice(1), { name: 'read_file', isError: true }]);
  const fold = { id: 'fold 1', first: 1, calls: 3, ms: 30 };
  expect([1, 3, 5].map((sequence) => findFold(log, sequence))).toEqual([fold, fold, fold]);
  expect([7, 9, 11, 13].map((sequence) => findFold(log, sequence))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('a turn that a budget has ended keeps its row', () => {
  const stop = (type: string) => buildEvent(1, 'session.status_idle', { stop_reason: { type } });
  expect(['end_turn', 'error', 'budget_reached'].map((type) => isAbsorbed(stop(type)))).toEqual([true, false, false]);
});
