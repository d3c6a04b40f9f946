// Tests: test/console/serve.test.ts
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { isRecord } from '../platform/records.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = join(ROOT, 'src/console/page');
/** Input files of the bundle, besides the packages. */
const SOURCES = ['src/console/page', 'clients/typescript', 'src/console/build.ts', 'package.json'];
export const OUTPUT = join(ROOT, 'build/console');
const MANIFEST = 'manifest.json';

/** Files of the web console; names are relative to the output folder and contain a hash of the content. */
export type Manifest = {
  /** hash of the sources */
  hash: string;
  script: string;
  style: string;
  /** every file, with its size in bytes and compressed by gzip */
  files: Record<string, { bytes: number; gzipBytes: number }>;
  /** files that the browser loads before it shows anything */
  initial: string[];
};

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

async function listFiles(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [path];
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** A hash of all files of this repository that the bundle includes. */
export async function hashSources(): Promise<string> {
  const lists = await Promise.all(SOURCES.map((source) => listFiles(join(ROOT, source))));
  const hash = createHash('sha256');
  for (const path of lists.flat().sort()) {
    hash.update(`${relative(ROOT, path)}\0`);
    hash.update(await readFile(path));
  }
  return hash.digest('hex').slice(0, 32);
}

/** Undefined if nothing has been built. */
export async function readManifest(): Promise<Manifest | undefined> {
  const text = await readFile(join(OUTPUT, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  return isRecord(value) && typeof value['script'] === 'string' ? (value as Manifest) : undefined;
}

/** Replaces a file atomically: processes that build at the same time write the same content under the same name. */
async function replaceFile(name: string, content: string | Uint8Array): Promise<void> {
  const temporary = join(OUTPUT, `.${randomUUID()}`);
  await writeFile(temporary, content);
  await rename(temporary, join(OUTPUT, name));
}

async function writeAsset(name: string, content: Uint8Array): Promise<[string, { bytes: number; gzipBytes: number }]> {
  const [gz, br] = await Promise.all([
    compressGzip(content, { level: 9 }),
    compressBrotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  ]);
  await Promise.all([replaceFile(name, content), replaceFile(`${name}.gz`, gz), replaceFile(`${name}.br`, br)]);
  return [name, { bytes: content.length, gzipBytes: gz.length }];
}

/** Bundles the page into `build/console`, in one to two seconds. Throws if the development dependencies are missing. */
export async function buildConsole(): Promise<Manifest> {
  const { build } = await import('esbuild');
  const hash = await hashSources();
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { main: join(PAGE, 'main.tsx') },
    outdir: OUTPUT,
    entryNames: '[name]-[hash]',
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    // For browsers this also selects the packages' production code.
    minify: true,
    metafile: true,
    write: false,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    // A container image lacks the files that the page folder's tsconfig extends.
    tsconfigRaw: {},
  });
  await mkdir(OUTPUT, { recursive: true });
  const assets = await Promise.all(outputFiles.map((file) => writeAsset(relative(OUTPUT, file.path), file.contents)));
  const names = assets.map(([name]) => name);
  const script = names.find((name) => name.startsWith('main-') && name.endsWith('.js')) ?? '';
  const style = names.find((name) => name.startsWith('main-') && name.endsWith('.css')) ?? '';
  const outputs = Object.entries(metafile.outputs).map(
    ([path, output]) => [relative(OUTPUT, join(ROOT, path)), output] as const,
  );
  const table = new Map(outputs);
  const initial = new Set([script, style]);
  for (const name of initial) {
    for (const { path, kind } of table.get(name)?.imports ?? []) {
      if (kind === 'import-statement') initial.add(relative(OUTPUT, join(ROOT, path)));
    }
  }
  const manifest = { hash, script, style, files: Object.fromEntries(assets), initial: [...initial] };
  await replaceFile(MANIFEST, JSON.stringify(manifest));
  await removeOthers(manifest);
  return manifest;
}

async function removeOthers({ files }: Manifest): Promise<void> {
  const kept = new Set([MANIFEST, ...Object.keys(files).flatMap((name) => [name, `${name}.gz`, `${name}.br`])]);
  for (const name of await readdir(OUTPUT)) {
    if (!kept.has(name) && !name.startsWith('.')) await rm(join(OUTPUT, name), { force: true });
  }
}

if (import.meta.main) await buildConsole();
