import { fc } from '../../../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { reduceJson } from '../../../../../src/agents/api/events/attachments/reduce.ts';

const LONG = 256 * 1024;

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** The remaining text, and what the sinks received. */
async function reduce(
  json: string,
  sizes: readonly number[],
  limits: { maxBytes?: number; maxTextBytes?: number } = {},
) {
  const taken: { mediaType: string; base64: string; state: string }[] = [];
  const text = await reduceJson(cut(Buffer.from(json), sizes), {
    maxBytes: 1e9,
    maxTextBytes: 1e9,
    ...limits,
    openSink: (mediaType) => {
      const sink = { mediaType, base64: '', state: 'open' };
      taken.push(sink);
      return {
        write: async (piece) => void (sink.base64 += piece.toString('latin1')),
        end: async () => {
          sink.state = 'ended';
          return `taken-${taken.indexOf(sink)}`;
        },
        abort: () => void (sink.state = 'aborted'),
      };
    },
  });
  return { text, taken };
}

describe('the reader of requests', () => {
  it('leaves any JSON without long data URLs as it is, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (value, sizes) => {
          const json = JSON.stringify(value);
          expect(await reduce(json, sizes)).toEqual({ text: json, taken: [] });
        },
      ),
    );
  });

  it('takes long data URLs out, however they are cut and escaped', async () => {
    const base64 = 'ab/+'.repeat(LONG / 4 + 1);
    const spelled = fc.constantFrom(base64, base64.replaceAll('/', String.raw`\/`));
    const head = fc.constantFrom('data:image/png;base64,', String.raw`data:image\/png;base64,`);
    const before = fc.string();
    const sizes = fc.array(fc.integer({ min: 1000, max: 100_000 }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(head, spelled, before, sizes, async (start, data, text, each) => {
        const around = JSON.stringify(`${text}\\"`);
        const json = `{"a":${around},"dataUrl":"${start}${data}","b":[${around}]}`;
        const reduced = await reduce(json, each);
        expect(reduced.text).toBe(`{"a":${around},"dataUrl":"taken-0","b":[${around}]}`);
        expect(reduced.taken).toHaveLength(1);
        expect(reduced.taken[0]?.mediaType).toBe('image/png');
        expect(reduced.taken[0]?.base64 === base64).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('leaves long strings that are no data URL', async () => {
    const json = JSON.stringify({ a: 'data:x'.repeat(LONG), b: 'y"\\'.repeat(LONG) });
    const { text, taken } = await reduce(json, [64_000]);
    expect(text === json).toBe(true);
    expect(taken).toEqual([]);
  });

  it('rejects work over its limits, and releases what it had started', async () => {
    const json = JSON.stringify({ a: `data:image/png;base64,${'A'.repeat(LONG * 2)}` });
    await expect(reduce(json, [1000], { maxBytes: LONG })).rejects.toMatchObject({ code: 'payload_too_large' });
    await expect(reduce(json, [1000], { maxTextBytes: 3 })).rejects.toMatchObject({ code: 'payload_too_large' });
    const states: string[] = [];
    const source = reduceJson(cut(Buffer.from(json.slice(0, -5)), [1000]), {
      maxBytes: 1e9,
      maxTextBytes: 1e9,
      openSink: () => ({
        write: async () => {},
        end: async () => '',
        abort: () => void states.push('aborted'),
      }),
    });
    await expect(source).rejects.toMatchObject({ code: 'validation_error' });
    expect(states).toEqual(['aborted']);
  });
});
