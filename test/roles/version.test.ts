import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { VERSION } from '../../src/platform/contract/version.ts';
import { SERVICE_DOCUMENTS } from '../../src/roles/documents.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

it('is one number for package, chart, documents and command line', () => {
  const chart = parse(read('charts/capstan/Chart.yaml')) as { version: string; appVersion: string };
  const document = JSON.parse(read('openapi.json')) as { info: { version: string } };
  const printed = execFileSync(fileURLToPath(new URL('bin/capstan', ROOT)), ['--version'], { encoding: 'utf8' });
  const versions = [chart.version, chart.appVersion, document.info.version, printed.trim()];
  expect(versions).toEqual(versions.map(() => (JSON.parse(read('package.json')) as { version: string }).version));
});

it.each(Object.entries(SERVICE_DOCUMENTS))('the document of %s also names the version of its API', (_name, build) => {
  expect(build()['info']).toMatchObject({
    version: VERSION,
    'x-api-version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });
});
