import { fc } from '../../../support/property.ts';
import { describe, expect, it } from 'vitest';
import {
  applyCompaction,
  findThreshold,
  isThrashing,
  planCompaction,
} from '../../../../src/agents/loop/compaction/plan.ts';
import type { Compaction } from '../../../../src/agents/log/event.ts';
import { estimateTokens, pruneMessages } from '../../../../src/agents/loop/compaction/prune.ts';
import { listSummary } from '../../../../src/agents/loop/compaction/summary.ts';
import type { HistoryEntry } from '../../../../src/agents/loop/history/build.ts';
import type { ModelMessage, ToolResult } from '../../../../src/inference/model.ts';

const LIMITS = { contextWindow: 8000, scale: 1, tight: false };

type Piece = { kind: 'user' | 'say' | 'call'; size: number; calls?: number };

let ids = 0;

/** A conversation in which each message has a distinct text. */
function converse(pieces: readonly Piece[]): HistoryEntry[] {
  const messages = pieces.flatMap(({ kind, size, calls = 1 }): ModelMessage[] => {
    ids += 1;
    const text = `${kind}${ids} ${'x'.repeat(size)}`;
    if (kind === 'user') return [{ role: 'user', content: [{ type: 'text', text }] }];
    if (kind === 'say') return [{ role: 'assistant', content: [{ type: 'text', text }] }];
    const names = Array.from({ length: calls }, (_, index) => `call_${ids}_${index}`);
    return [
      {
        role: 'assistant',
        content: names.map((id) => ({ type: 'tool_call', id, name: 'terminal', arguments: '{"command":"ls"}' })),
      },
      {
        role: 'tool',
        results: names.map((callId) => ({ callId, content: [{ type: 'text', text: callId + text }], isError: false })),
      },
    ];
  });
  return messages.map((message, index) => ({ key: `k${index}`, message }));
}

const textOf = (message: ModelMessage | undefined) => JSON.stringify(message);
const user = (size = 10): Piece => ({ kind: 'user', size });
const say = (size = 10): Piece => ({ kind: 'say', size });
const call = (size = 10, calls = 1): Piece => ({ kind: 'call', size, calls });
const many = (count: number, ...pieces: Piece[]): Piece[] => Array.from({ length: count }, () => pieces).flat();

/** Applies a plan as the loop does: the compaction as stored in the log. */
function compact(entries: HistoryEntry[], earlier?: Compaction, limits = LIMITS): Compaction | undefined {
  const plan = planCompaction(entries, earlier, limits);
  if (plan === undefined) return undefined;
  const summary = `SUMMARY of ${plan.fresh.length}`;
  const text = `${summary} ${plan.lastSaid ?? ''}`;
  return { head: plan.head, tail: plan.tail, prompt: plan.prompt, text, summary, failedAt: null, saved: 0.5 };
}

describe('planCompaction', () => {
  it('takes away nothing where the beginning and the end are all there is', () => {
    expect(compact(converse([]))).toBeUndefined();
    expect(compact(converse([user(90_000)]))).toBeUndefined();
    expect(compact(converse([user(), say(), user()]))).toBeUndefined();
    expect(compact(converse([user(), call(90_000)]))).toBeUndefined();
  });

  it('keeps the first exchange and the end by size, and removes the middle', () => {
    const entries = converse([...many(30, user(400), say(400))]);
    const plan = planCompaction(entries, undefined, LIMITS)!;
    expect(plan).toMatchObject({ head: 'k1', prompt: null });
    const tail = entries.findIndex(({ key }) => key === plan.tail);
    const size = estimateTokens(entries.slice(tail).map(({ message }) => message));
    const room = findThreshold(8000) * 0.2;
    expect(size).toBeGreaterThan(room / 2);
    expect(size).toBeLessThan(room * 1.6);
    expect(plan.fresh).toEqual(entries.slice(2, tail));
  });

  it('sums up the beginning, too, where its results are shortened', () => {
    const entries = converse([call(400), say(), ...many(30, user(400), say(400))]);
    const plan = planCompaction(entries, undefined, LIMITS)!;
    expect(plan.head).toBe('k2');
    expect(plan.fresh.slice(0, 4)).toEqual(entries.slice(0, 4));
    const later = compact(entries)!;
    const longer = [...entries, ...converse(many(30, user(400), say(400))).map((e) => ({ ...e, key: `l${e.key}` }))];
    expect(planCompaction(longer, later, LIMITS)!.fresh).not.toContain(entries[1]);
  });

  it('keeps a smaller end when the provider counts more tokens than the estimate, or has refused the prompt', () => {
    const entries = converse([...many(30, user(400), say(400))]);
    const tail = (limits: typeof LIMITS) =>
      entries.findIndex(({ key }) => key === planCompaction(entries, undefined, limits)!.tail);
    expect(tail({ ...LIMITS, scale: 3 })).toBeGreaterThan(tail(LIMITS));
    const few = converse([...many(4, user(400), say(400))]);
    expect(planCompaction(few, undefined, { ...LIMITS, contextWindow: 80_000 })).toBeUndefined();
    expect(planCompaction(few, undefined, { ...LIMITS, contextWindow: 80_000, tight: true })).toBeDefined();
  });

  it('keeps the prompt of a long turn behind the summary, and the last words in it', () => {
    const entries = converse([user(), say(), user(50), say(30), ...many(40, call(400))]);
    const compaction = compact(entries)!;
    expect(compaction.prompt).toBe('k2');
    const [, , summary, next] = applyCompaction(entries, compaction);
    expect(textOf(summary)).toMatch(/SUMMARY of.*user\d+ x/);
    expect(textOf(summary)).toContain('say');
    expect(next?.role).toBe('assistant');
  });

  it('continues from the last summary: only messages beyond it are summarized', () => {
    const entries = converse(many(30, user(400), say(400)));
    const first = compact(entries)!;
    expect(planCompaction(entries, first, LIMITS)).toBeUndefined();
    const longer = [...entries, ...converse(many(20, user(400), say(400)))].map(({ message }, index) => ({
      key: `k${index}`,
      message,
    }));
    const plan = planCompaction(longer, first, LIMITS)!;
    expect(plan.head).toBe(first.head);
    expect(plan.fresh[0]?.key).toBe(first.tail);
  });
});

it('stops after two passes in a row that saved little', () => {
  expect(isThrashing([])).toBe(false);
  expect(isThrashing([{ saved: 0.05 }])).toBe(false);
  expect(isThrashing([{ saved: 0.05 }, { saved: 0.5 }])).toBe(false);
  expect(isThrashing([{ saved: 0.5 }, { saved: 0.05 }])).toBe(false);
  expect(isThrashing([{ saved: 0.5 }, { saved: 0.09 }, { saved: -0.1 }])).toBe(true);
});

it('lies between half and three quarters of the window', () => {
  for (const window of [1000, 32_000, 1_000_000]) {
    expect(findThreshold(window)).toBeGreaterThanOrEqual(window / 2);
    expect(findThreshold(window)).toBeLessThanOrEqual((window * 3) / 4);
  }
});

describe('pruneMessages', () => {
  const result = (callId: string, text: string): ToolResult => ({
    callId,
    content: [{ type: 'text', text }],
    isError: false,
  });
  const ask = (id: string, args: string): ModelMessage => ({
    role: 'assistant',
    content: [{ type: 'tool_call', id, name: 'terminal', arguments: args }],
  });

  it('makes one line of a long result, and leaves a short one', () => {
    const pruned = pruneMessages([
      ask('a', '{"command":"npm test"}'),
      { role: 'tool', results: [result('a', `first\n${'line\n'.repeat(200)}last`), result('b', 'short')] },
    ]);
    const { results } = pruned[1] as { results: ToolResult[] };
    expect(textOf(pruned[1])).toContain(
      '[terminal] {\\"command\\":\\"npm test\\"} -> 202 lines, 1010 characters: first',
    );
    expect((results[0]!.content[0] as { text: string }).text).toMatch(/last$/);
    expect(results[1]).toEqual(result('b', 'short'));
  });

  it('shows a repeated result once, the last time', () => {
    const pruned = pruneMessages(
      ['a', 'b'].flatMap((id): ModelMessage[] => [
        ask(id, '{}'),
        { role: 'tool', results: [result(id, 'y'.repeat(1000))] },
      ]),
    );
    expect(textOf(pruned[1])).toContain('the same as a later result');
    expect(textOf(pruned[3])).toContain('1000 characters');
  });

  it('cuts long arguments and leaves them JSON, and drops images', () => {
    const long = JSON.stringify({ path: 'a.txt', content: 'z'.repeat(5000) });
    const [asked, broken, seen] = pruneMessages([
      ask('a', long),
      ask('b', `{"content":"${'z'.repeat(5000)}`),
      { role: 'user', content: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }] },
    ]);
    const args = (message: ModelMessage | undefined) =>
      JSON.parse((message as { content: { arguments: string }[] }).content[0]!.arguments) as { path?: string };
    expect(args(asked).path).toBe('a.txt');
    expect(textOf(asked).length).toBeLessThan(500);
    expect(Object.keys(args(broken))).toEqual(['cut']);
    expect(textOf(seen)).not.toContain('AAAA');
  });
});

it('lists prompts, calls and replies if no model can summarize', () => {
  const messages = converse([user(5), call(5), say(5)]).map(({ message }) => message);
  const input = { messages, earlier: 'BEFORE', contextWindow: 8000, model: 'm' };
  const summary = listSummary(input);
  expect(summary).toMatch(/^BEFORE[\s\S]*user\d+[\s\S]*call_[\s\S]*say\d+/);
  expect(listSummary(input)).toBe(summary);
  const huge = { ...input, messages: converse(many(200, user(3000))).map(({ message }) => message) };
  expect(listSummary(huge).length).toBeLessThan(8000);
});

/** Every result follows the reply with its call, and every call has a result. */
function findOrphans(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message, index) => {
    const next = messages[index + 1];
    const before = messages[index - 1];
    if (message.role === 'assistant') {
      const calls = message.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
      const results = next?.role === 'tool' ? next.results.map(({ callId }) => callId) : [];
      return JSON.stringify(calls) === JSON.stringify(results) ? [] : [`${index}: ${calls.join()} ${results.join()}`];
    }
    return message.role === 'tool' && before?.role !== 'assistant' ? [`${index}: results of nothing`] : [];
  });
}

const firstText = (message: ModelMessage | undefined) =>
  (message as { content: { text: string }[] }).content[0]!.text.trim();

const piece = fc.record({
  kind: fc.constantFrom<Piece['kind']>('user', 'say', 'call', 'call'),
  size: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 200, max: 6000 })),
  calls: fc.integer({ min: 1, max: 3 }),
});

it('a compacted conversation is valid, also after more turns: complete pairs, same order, the last prompt last', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 60 }),
      fc.array(piece, { maxLength: 60 }),
      fc.boolean(),
      fc.double({ min: 0.5, max: 8, noNaN: true }),
      (before, after, tight, scale) => {
        const all = converse([user(5), ...before, ...after]);
        const cut = converse([user(5), ...before]).length;
        const limits = { contextWindow: 4000, scale, tight };
        const earlier = compact(all.slice(0, cut), undefined, limits);
        const later = compact(all, earlier, limits) ?? earlier;
        // Whatever was added since, the earlier prompt is a prefix of the current one.
        const view = applyCompaction(all.slice(0, cut), earlier);
        expect(textOf(applyCompaction(all, earlier).slice(0, view.length - 1) as never)).toBe(
          textOf(view.slice(0, -1) as never),
        );
        for (const compaction of [earlier, later]) {
          const messages = applyCompaction(all, compaction);
          expect(findOrphans(messages)).toEqual([]);
          expect(messages.length).toBeLessThanOrEqual(all.length + 1);
          const texts = textOf(messages as never);
          const order = (texts.match(/(?:user|say|call)(\d+) x*/g) ?? []).map((text) => Number(/\d+/.exec(text)?.[0]));
          const shown = compaction === undefined ? order : order.filter((id) => !compaction.text.includes(`say${id} `));
          expect(shown).toEqual(shown.toSorted((left, right) => left - right));
          const last = all.findLast(({ message }) => message.role === 'user')?.message;
          const lastUser = messages.findLast(({ role }) => role === 'user');
          expect(textOf(lastUser)).toContain(firstText(last));
          expect(textOf(lastUser).lastIndexOf('user')).toBeGreaterThan(textOf(lastUser).lastIndexOf('SUMMARY'));
          const said = all.findLast(({ message }) => textOf(message).includes('"text":"say'))?.message;
          expect(texts).toContain(said === undefined ? '' : firstText(said));
        }
      },
    ),
    { numRuns: 300 },
  );
});
