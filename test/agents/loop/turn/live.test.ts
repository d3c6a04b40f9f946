import { fc } from '../../../support/property.ts';
import { expect, it, vi } from 'vitest';
import { openLiveFrames } from '../../../../src/agents/loop/turn/live.ts';

type Frame = Parameters<Parameters<typeof openLiveFrames>[0]>[0];

const textOf = (frame: Frame) => (frame.payload['content'] as { text: string }[])[0]?.text ?? '';

it('frames of text, in order, are the text: each says where in it it begins', () => {
  const pieces = fc.array(
    fc.tuple(fc.constantFrom('evt_a', 'evt_b'), fc.string({ maxLength: 5 }), fc.nat({ max: 30 })),
  );
  vi.useFakeTimers();
  fc.assert(
    fc.property(pieces, (list) => {
      const sent: Frame[] = [];
      const frames = openLiveFrames((frame) => sent.push(frame));
      const texts: Record<string, string> = { evt_a: '', evt_b: '' };
      for (const [id, text, pause] of list) {
        frames.sendText('agent.message', id, text);
        texts[id] += text;
        vi.advanceTimersByTime(pause);
      }
      frames.flush();
      for (const id of ['evt_a', 'evt_b']) {
        const own = sent.filter((frame) => frame.id === id);
        let joined = '';
        for (const frame of own) {
          expect(frame.payload).toMatchObject({ type: 'agent.message', id, delta: true, offset: joined.length });
          expect(textOf(frame)).not.toBe('');
          joined += textOf(frame);
        }
        expect(joined).toBe(texts[id]);
      }
    }),
  );
  vi.useRealTimers();
});

it('the first piece is sent at once, later ones are joined, and a preview follows the earlier text', () => {
  vi.useFakeTimers();
  const sent: Frame[] = [];
  const frames = openLiveFrames((frame) => sent.push(frame));
  frames.sendText('agent.thinking', 'evt_a', 'one ');
  expect(sent.map(textOf)).toEqual(['one ']);
  frames.sendText('agent.thinking', 'evt_a', 'two ');
  frames.sendText('agent.thinking', 'evt_a', 'three');
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(20);
  expect(sent.map(textOf)).toEqual(['one ', 'two three']);
  frames.sendText('agent.message', 'evt_b', 'said');
  const use = { toolset: null, input: {}, evaluated_permission: 'ask' } as const;
  frames.sendPreview('evt_c', { type: 'agent.tool_use', id: 'evt_c', name: 'terminal', ...use });
  expect(sent.slice(2).map(({ type, status }) => [type, status])).toEqual([
    ['agent.message', null],
    ['agent.tool_use', 'streaming'],
  ]);
  vi.advanceTimersByTime(1000);
  expect(sent).toHaveLength(4);
  vi.useRealTimers();
});

it('text of any length comes in blocks that the contract takes', () => {
  const sent: Frame[] = [];
  const frames = openLiveFrames((frame) => sent.push(frame));
  frames.sendText('agent.message', 'evt_a', 'x'.repeat(45_000));
  frames.flush();
  const blocks = sent[0]?.payload['content'] as { text: string }[];
  expect(blocks.map(({ text }) => text.length)).toEqual([20_000, 20_000, 5000]);
});
