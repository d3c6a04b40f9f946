import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RenderRequest } from '../src/video/engines/engine.ts';
import { buildRenderArguments, openStoryboard } from '../src/video/engines/storyboard/engine.ts';
import { buildGraph } from '../src/video/engines/storyboard/graph.ts';
import { makePlan } from '../src/video/engines/storyboard/plan.ts';
import { median, printMachine } from './support/figures.ts';
import { NEEDS, requireProgram } from './support/needs.ts';

const ffmpeg = requireProgram('ffmpeg', NEEDS.ffmpeg);

/**
 * Measures a clip of `local/storyboard-1` from the request to the finished file and thumbnail, compared with the bare
 * ffmpeg command that renders the same frames from finished pictures, without isolation and limits. The two alternate,
 * so both run under the same conditions. Target: within 1.1 of the bare command for 5 s of 720p.
 * Needs: ffmpeg (make services).
 */
const ROUNDS = 5;
const CASES: { name: string; request: Partial<RenderRequest> }[] = [
  { name: '5 s, 720p, audio', request: {} },
  { name: '5 s, 720p', request: { hasAudio: false } },
  { name: '10 s, 1080p, audio', request: { durationSeconds: 10, width: 1920, height: 1080 } },
  { name: '5 s, 720p, audio, WebM', request: { format: 'webm' } },
];

const root = mkdtempSync(join(tmpdir(), 'capstan-storyboard-'));
const engine = openStoryboard();
const signal = new AbortController().signal;
let count = 0;

function buildRequest(more: Partial<RenderRequest>): RenderRequest {
  count += 1;
  const folder = join(root, String(count));
  mkdirSync(folder);
  return {
    id: `gen_${count}`,
    model: 'local/storyboard-1',
    prompt: 'A whale jumps out of the ocean at dawn',
    aspectRatio: '16:9',
    durationSeconds: 5,
    width: 1280,
    height: 720,
    hasAudio: true,
    format: 'mp4',
    seed: 7,
    inputs: { ingredientImages: [], characterImages: [], referenceVideos: [] },
    folder,
    ...more,
  };
}

async function measureOurs(more: Partial<RenderRequest>): Promise<number> {
  const request = buildRequest(more);
  const begun = performance.now();
  await engine.render(request, {
    signal,
    onProgress: () => undefined,
    handle: undefined,
    saveHandle: () => Promise.resolve(),
  });
  const took = performance.now() - begun;
  rmSync(request.folder, { recursive: true });
  return took;
}

async function measureBare(more: Partial<RenderRequest>): Promise<number> {
  const request = buildRequest(more);
  const result = {
    file: join(request.folder, `video.${request.format}`),
    thumbnail: join(request.folder, 'video.webp'),
  };
  const args = buildRenderArguments(request, buildGraph(await makePlan(request, signal)), result);
  const begun = performance.now();
  await new Promise<void>((resolve, reject) => {
    const child = spawn(ffmpeg, args, { stdio: 'ignore' });
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`ffmpeg ended with ${code}.`))));
  });
  const took = performance.now() - begun;
  rmSync(request.folder, { recursive: true });
  return took;
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

printMachine();
console.log('| | request to files, median | slowest | bare ffmpeg, median | ratio |\n|---|---|---|---|---|');
for (const { name, request } of CASES) {
  const [ours, bare]: [number[], number[]] = [[], []];
  await measureOurs(request);
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await measureBare(request));
    ours.push(await measureOurs(request));
  }
  const ratio = (median(ours) / median(bare)).toFixed(2);
  const slowest = inSeconds(Math.max(...ours));
  console.log(`| ${name} | ${inSeconds(median(ours))} | ${slowest} | ${inSeconds(median(bare))} | ${ratio} |`);
}
rmSync(root, { recursive: true });
