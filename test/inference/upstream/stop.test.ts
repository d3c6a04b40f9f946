import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { collectReply } from '../../../src/inference/collect.ts';
import type { ModelDelta } from '../../../src/inference/model.ts';
import { endAtStop } from '../../../src/inference/upstream/stop.ts';

const usage = { input: 3, output: 9, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

async function* say(pieces: string[], more: ModelDelta[] = []): AsyncGenerator<ModelDelta> {
  yield { type: 'start', id: 'r', model: 'm' };
  for (const text of pieces) yield { type: 'text', index: 0, text };
  yield* more;
  yield { type: 'finish', reason: more.length > 0 ? 'tool_calls' : 'stop', usage };
}

describe('a reply of an upstream without stop sequences', () => {
  it('ends before the one that is complete first, however its text is cut', async () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });
    const sequence = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(letters), fc.array(sequence, { minLength: 1, maxLength: 3 }), async (pieces, stop) => {
        const whole = pieces.join('');
        // The sequence that is complete first; of several at once, the longest.
        const [first] = stop
          .map((each) => ({ at: whole.indexOf(each), length: each.length }))
          .filter(({ at }) => at !== -1)
          .toSorted((a, b) => a.at + a.length - (b.at + b.length) || b.length - a.length);
        const reply = await collectReply(endAtStop(say(pieces), stop));
        const text = reply.content.map((part) => ('text' in part ? part.text : '')).join('');
        expect(text).toBe(first === undefined ? whole : whole.slice(0, first.at));
        expect(reply.stopSequence === undefined).toBe(first === undefined);
        expect(reply.usage).toEqual(usage);
      }),
      { numRuns: 500 },
    );
  });

  it('omits everything after it, including calls', async () => {
    const call: ModelDelta[] = [
      { type: 'tool_call', index: 1, id: 'c', name: 'f' },
      { type: 'tool_arguments', index: 1, text: '{}' },
    ];
    const cut = await collectReply(endAtStop(say(['Observ', 'ation: 7'], call), ['Observation']));
    expect(cut).toMatchObject({ content: [], finish: 'stop', stopSequence: 'Observation' });
    const kept = await collectReply(endAtStop(say(['Obser'], call), ['Observation']));
    expect(kept).toMatchObject({ content: [{ text: 'Obser' }, { name: 'f', arguments: '{}' }], finish: 'tool_calls' });
  });
});
