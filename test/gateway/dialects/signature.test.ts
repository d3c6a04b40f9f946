import { expect, it } from 'vitest';
import { packSignature, unpackSignature } from '../../../src/gateway/dialects/signature.ts';

const part = { type: 'reasoning', text: 'hm', issuer: 'anth/small', signature: 'c2ln', summary: true } as const;

it('unpacks packed signatures, without the text', () => {
  expect(unpackSignature(packSignature(part))).toEqual({ issuer: 'anth/small', signature: 'c2ln', summary: true });
});

it('packs nothing for reasoning without an issuer', () => {
  expect(packSignature({ type: 'reasoning', text: 'hm' })).toBeUndefined();
});

it.each([undefined, 7, '', 'c2ln', 'cap1_', 'cap1_!!', `cap1_${Buffer.from('[]').toString('base64url')}`])(
  'ignores %j, which it has not packed',
  (text) => {
    expect(unpackSignature(text)).toBeUndefined();
  },
);

it('ignores fields of a wrong type', () => {
  const forged = `cap1_${Buffer.from(JSON.stringify({ i: 'a/b', s: 7, e: {}, m: 'x' })).toString('base64url')}`;
  expect(unpackSignature(forged)).toEqual({ issuer: 'a/b' });
});
