import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { buildServerDocument } from '../src/platform/http/docs/join.ts';
import { SERVICE_DOCUMENTS } from '../src/roles/documents.ts';
import { describeFields } from '../src/gateway/fields/describe.ts';
import { buildDefinitions } from '../src/sandbox/resources/definitions.ts';
import { buildClientFiles } from './client/build.ts';

const ROOT = new URL('../', import.meta.url);

const GATEWAY_PAGE = 'docs/inference-gateway.md';

/** The page with the tables between its two markers replaced. */
function buildGatewayPage(): string {
  const page = readFileSync(new URL(GATEWAY_PAGE, ROOT), 'utf8');
  const [start, end] = ['<!-- fields -->', '<!-- end of fields -->'];
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${GATEWAY_PAGE} has no ${start} … ${end}.`);
  return `${before}${start}\n\n${describeFields()}\n\n${end}${after}`;
}

/** Files generated from the contract, by path. */
const FILES: Record<string, () => string> = {
  [GATEWAY_PAGE]: buildGatewayPage,
  'openapi.json': () => `${JSON.stringify(buildServerDocument(SERVICE_DOCUMENTS), null, 2)}\n`,
  ...Object.fromEntries(
    Object.entries(buildDefinitions()).flatMap(([name, definition]) => {
      const build = () =>
        `# Generated from src/sandbox/resources by "make generate".\n${stringify(definition, { aliasDuplicateObjects: false, lineWidth: 120 })}`;
      // A chart contains all its files: Helm follows no links out of it.
      return [
        [`crds/${name}`, build],
        [`charts/capstan/files/crds/${name}`, build],
      ];
    }),
  ),
  ...Object.fromEntries(
    Object.entries(
      buildClientFiles(buildServerDocument({ agents: SERVICE_DOCUMENTS.agents, video: SERVICE_DOCUMENTS.video })),
    ).map(([name, text]) => [`clients/typescript/generated/${name}`, () => text]),
  ),
};

const check = process.argv.includes('--check');
for (const [path, build] of Object.entries(FILES)) {
  const url = new URL(path, ROOT);
  const wanted = build();
  if (!check) {
    await writeFile(url, wanted);
    continue;
  }
  const found = await readFile(url, 'utf8').catch(() => '');
  if (found === wanted) continue;
  console.error(`${fileURLToPath(url)} is not what the contract says: run "npm run generate".`);
  process.exitCode = 1;
}
