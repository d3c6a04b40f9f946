import { afterAll, beforeAll, describe } from 'vitest';
import { findInstallation } from '../../support/cluster/node/installation.ts';
import type { Installation } from '../../support/cluster/node/installation.ts';
import { testEscapes } from './escapes.ts';
import { testIsolation } from './isolation.ts';
import { testMedia } from './media.ts';
import { testRestore } from './restore.ts';
import { testSessions } from './sessions.ts';
import { testTakeover } from './takeover.ts';
import { testUpgrade } from './upgrade.ts';
import { testWarmPool } from './warm-pool.ts';

const install = await findInstallation();

/** One installation, from `helm install` to `helm uninstall`: the parts depend on each other. */
describe.skipIf(install === undefined)('Capstan on a real node', () => {
  let installation: Installation;
  const find = (): Installation => installation;
  beforeAll(async () => {
    installation = await (install as () => Promise<Installation>)();
  });
  afterAll(async () => {
    await installation?.close();
  });

  describe('sessions', () => {
    testSessions(find);
  });
  describe('a warm pool', () => {
    testWarmPool(find);
  });
  describe('takeovers', () => {
    testTakeover(find);
  });
  describe('isolation', () => {
    testIsolation(find);
  });
  describe('escapes', () => {
    testEscapes(find);
  });
  describe('videos and website logins', () => {
    testMedia(find);
  });
  describe('a backup', () => {
    testRestore(find);
  });
  describe('the release', () => {
    testUpgrade(find);
  });
});
