// Writes the software bill of materials of the images' contents, CycloneDX as JSON, to the named file, else to stdout.
// Usage: node scripts/sbom.ts [FILE]
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const MAX_BYTES = 64 * 1024 * 1024;

const Package = z.object({ name: z.string(), version: z.string() });
const Lock = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), dev: z.boolean().optional() })),
});
const Bom = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.string(),
  metadata: z.looseObject({ component: z.looseObject({ name: z.string(), version: z.string() }) }),
  components: z.array(z.looseObject({ 'bom-ref': z.string(), purl: z.string() })).min(1),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

// Reads the lock file alone: the installed packages may be for another platform.
const text = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: MAX_BYTES,
});
const bom = Bom.parse(JSON.parse(text));
const { name, version } = Package.parse(JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')));
// npm uses the folder's name, and calls every package a library.
bom.metadata.component = { ...bom.metadata.component, name, version, type: 'application' };
// `npm sbom --omit=dev` would omit dependencies shared by the product and a tool, such as zod.
const lock = Lock.parse(JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')));
const shipped = new Set([`${name}@${version}`]);
for (const [path, entry] of Object.entries(lock.packages)) {
  if (entry.dev !== true) shipped.add(`${path.split('node_modules/').at(-1) ?? ''}@${entry.version ?? ''}`);
}
bom.components = bom.components.filter((component) => shipped.has(component['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => shipped.has(ref))
  .map((entry) => ({ ...entry, dependsOn: entry.dependsOn.filter((ref) => shipped.has(ref)) }));
const output = `${JSON.stringify(bom, null, 2)}\n`;
const [file] = process.argv.slice(2);
if (file === undefined) process.stdout.write(output);
else writeFileSync(file, output);
