import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';

const ROOT = new URL('../../', import.meta.url);
const run = promisify(execFile);

const Bom = z.object({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.string(),
  metadata: z.object({ component: z.object({ name: z.string(), version: z.string(), type: z.string() }) }),
  components: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      purl: z.string().startsWith('pkg:npm/'),
      hashes: z.array(z.object({ alg: z.string(), content: z.string() })).min(1),
    }),
  ),
});

test('the bill of materials lists what the images run, with versions and hashes', async () => {
  const { stdout } = await run(process.execPath, [fileURLToPath(new URL('scripts/sbom.ts', ROOT))], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const { metadata, components } = Bom.parse(JSON.parse(stdout));
  const own = z
    .object({ version: z.string(), dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')));
  expect(metadata.component).toEqual({ name: 'capstan', version: own.version, type: 'application' });
  const names = new Set(components.map(({ name }) => name));
  expect(Object.keys(own.dependencies).filter((name) => !names.has(name))).toEqual([]);
  expect(['vitest', 'oxlint'].filter((name) => names.has(name))).toEqual([]);
}, 60_000);
