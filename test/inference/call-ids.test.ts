import { fc } from '../support/property.ts';
import { describe, expect, it } from 'vitest';
import { legalCallId } from '../../src/inference/call-ids.ts';

describe('the id of a call', () => {
  it('is legal everywhere, whatever came in, and always the same for the same id', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        expect(legalCallId(id)).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
        expect(legalCallId(id)).toBe(legalCallId(id));
      }),
    );
  });

  it('stays as it is where it is legal, and tells others apart', () => {
    expect(legalCallId('call_abc-1')).toBe('call_abc-1');
    expect(legalCallId('functions.a:0')).not.toBe(legalCallId('functions.a:1'));
  });
});
