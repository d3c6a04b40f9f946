import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole } from './open-console.ts';
import type { ConsoleServer } from './open-console.ts';

let site: ConsoleServer;

beforeAll(async () => {
  site = await openConsole();
});
afterAll(() => site.close());

test('a page of an older build offers to reload, and is not reloaded by itself', async () => {
  const { page, context, faults } = await site.visit();
  await page.clock.install();
  await page.goto(`${site.url}/console/agents`);
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  const note = page.getByText('The server has a newer console.');
  expect(await note.count()).toBe(0);
  // As if the server had been upgraded since the page was loaded.
  await page.evaluate(`document.querySelector('meta[name="capstan-build"]').content = 'older'; kept = true`);
  await page.clock.fastForward('06:00');
  await note.waitFor();
  expect(await page.evaluate('kept')).toBe(true);
  await page.getByRole('button', { name: 'Reload' }).click();
  await note.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  expect(await page.evaluate('typeof kept')).toBe('undefined');
  expect(faults).toEqual([]);
  await context.close();
});
