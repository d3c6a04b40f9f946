import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Session } from '../clients/typescript/index.ts';
import { openConsole } from '../test/console/open-console.ts';
import type { ConsoleServer } from '../test/console/open-console.ts';
import { listRoutes } from '../test/console/routes.ts';

/**
 * Takes the pictures of docs/console.md from a server with demo data: `node scripts/console-pictures.ts`. With
 * `ROUTES=<folder>` it takes every route at 1280 and 360 px in both themes instead, to be looked at.
 */
const ROUTES = process.env['ROUTES'];
const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));

/** Every route of the console, by width and theme. */
async function takeRoutes(site: ConsoleServer, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const routes = await listRoutes(site);
  for (const width of [1280, 360]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, context } = await site.visit({ width, height: 800, colorScheme });
      for (const [index, [path, ready]] of routes.entries()) {
        await page.goto(`${site.url}/console/${path}`);
        await page.locator(`main ${ready}`).first().waitFor();
        await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
        const name = path.replaceAll(/[a-z]{3}_[0-9a-z]{26}/g, 'id').replaceAll(/[^\w-]+/g, '-');
        const file = `${String(index).padStart(2, '0')}-${name}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: join(folder, file), animations: 'disabled' });
      }
      await context.close();
    }
  }
}

mkdirSync(FOLDER, { recursive: true });
const site = await openConsole();
try {
  const { code, err } = await site.server.capstan(['demo']);
  if (code !== 0) throw new Error(err);
  if (ROUTES !== undefined) await takeRoutes(site, ROUTES);
  const { data } = await site.call<{ data: Session[] }>('GET', '/v1/sessions');
  const find = (title: string) => data.find((session) => session.title === title)?.id ?? '';
  const pictures = [
    ['console-session', `sessions/${find('Refund for order 4417')}`, '.ask-card-open', 'light', 1280, 720],
    ['console-inbox', 'inbox', '.ask', 'light', 1280, 640],
    ['console-sessions', 'sessions', 'table.list tbody tr', 'dark', 1280, 520],
    ['console-phone', 'inbox', '.ask-row', 'dark', 360, 640],
  ] as const;
  for (const [name, path, ready, colorScheme, width, height] of ROUTES === undefined ? pictures : []) {
    const { page, context } = await site.visit({ width, height, colorScheme });
    await page.goto(`${site.url}/console/${path}`);
    await page.locator(ready).first().waitFor();
    if (width < 768) {
      await page.locator('.ask-row').first().click();
      await page.locator('.ask .answers').waitFor();
    }
    // Waits until icons stop turning and measured rows are stable.
    await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
    await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled' });
    await context.close();
  }
} finally {
  await site.close();
}
