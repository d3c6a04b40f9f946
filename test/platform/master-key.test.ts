import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { UnsealError, buildMasterKeys, ensureMasterKeyFile } from '../../src/platform/master-key.ts';
import { makeScratch } from '../support/scratch.ts';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');

describe('master keys', () => {
  const keys = buildMasterKeys(key(1));

  it('seal under a data key that is another each time', () => {
    const [first, second] = [keys.seal('secret', 'row/1'), keys.seal('secret', 'row/1')];
    expect(first.dataKey).not.toBe(second.dataKey);
    expect(JSON.stringify(first)).not.toContain('secret');
    expect(keys.unseal(first, 'row/1')).toBe('secret');
  });

  it('open nothing that was moved to another row, tampered with or sealed by another key', () => {
    const sealed = keys.seal('secret', 'row/1');
    const other = keys.seal('other', 'row/1');
    for (const open of [
      () => keys.unseal(sealed, 'row/2'),
      () => keys.unseal({ ...sealed, sealed: other.sealed }, 'row/1'),
      () => keys.unseal({ ...sealed, dataKey: other.dataKey }, 'row/1'),
      () => buildMasterKeys(key(2)).unseal(sealed, 'row/1'),
    ]) {
      expect(open).toThrow(UnsealError);
    }
  });

  it('are rotated by sealing the data key anew', () => {
    const sealed = keys.seal('secret', 'row/1');
    const next = buildMasterKeys(key(2), key(1));
    expect(next.unseal(sealed, 'row/1')).toBe('secret');
    const rewrapped = next.rewrap(sealed, 'row/1');
    expect(rewrapped).toMatchObject({ sealed: sealed.sealed, masterKeyId: next.currentId });
    expect(rewrapped && buildMasterKeys(key(2)).unseal(rewrapped, 'row/1')).toBe('secret');
    expect(rewrapped && next.rewrap(rewrapped, 'row/1')).toBeUndefined();
  });
});

describe('the file of the master key', () => {
  const folder = makeScratch('master-key');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is made once, for its owner only', () => {
    const path = join(folder, 'master-key');
    const text = ensureMasterKeyFile(path);
    expect(Buffer.from(text, 'base64')).toHaveLength(32);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(ensureMasterKeyFile(path)).toBe(text);
    expect(readFileSync(path, 'utf8')).toBe(`${text}\n`);
  });
});
