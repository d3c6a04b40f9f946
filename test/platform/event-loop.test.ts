import { expect, onTestFinished, test } from 'vitest';
import { beginWork, eventLoopBlocks, trackWork, watchEventLoop } from '../../src/platform/event-loop.ts';
import { openLog } from '../../src/platform/log.ts';

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function countBlocks(work: string): Promise<number> {
  const { values } = await eventLoopBlocks.get();
  return values.find(({ labels }) => labels.work === work)?.value ?? 0;
}

test('a block is logged with the work that ran, and counted by its kind', async () => {
  const lines: string[] = [];
  const log = openLog({ level: 'info', pretty: false, destination: { write: (line) => void lines.push(line) } });
  onTestFinished(beginWork('GET /v1/idle'));
  const watch = watchEventLoop(log);
  onTestFinished(() => watch.close());
  await trackWork({ kind: 'tool', name: 'tool slow' }, async () => block(600));
  await expect.poll(() => countBlocks('tool')).toBeGreaterThan(0);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'the event loop was blocked', work: ['tool slow'] });
});

test('work that ended before anyone watched is neither kept nor blamed', async () => {
  const lines: string[] = [];
  const log = openLog({ level: 'info', pretty: false, destination: { write: (line) => void lines.push(line) } });
  beginWork('GET /v1/ended')();
  const watch = watchEventLoop(log);
  onTestFinished(() => watch.close());
  block(600);
  await expect.poll(() => countBlocks('unknown')).toBeGreaterThan(0);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'the event loop was blocked', work: [] });
});
