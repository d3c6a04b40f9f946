import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Session } from '../clients/typescript/index.ts';
import { openConsole } from '../test/console/open-console.ts';

/** Takes the pictures of docs/console.md from a server with demo data: `node scripts/console-pictures.ts`. */
const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));

mkdirSync(FOLDER, { recursive: true });
const site = await openConsole();
try {
  const { code, err } = await site.server.capstan(['demo']);
  if (code !== 0) throw new Error(err);
  const { data } = await site.call<{ data: Session[] }>('GET', '/v1/sessions');
  const find = (title: string) => data.find((session) => session.title === title)?.id ?? '';
  const pictures = [
    ['console-session', `sessions/${find('Refund for order 4417')}`, '.ask-card-open', 'light', 1280, 720],
    ['console-inbox', 'inbox', '.ask', 'light', 1280, 640],
    ['console-sessions', 'sessions', 'table.list tbody tr', 'dark', 1280, 520],
    ['console-phone', 'inbox', '.ask-row', 'dark', 360, 640],
  ] as const;
  for (const [name, path, ready, colorScheme, width, height] of pictures) {
    const { page, context } = await site.visit({ width, height, colorScheme });
    await page.goto(`${site.url}/console/${path}`);
    await page.locator(ready).first().waitFor();
    if (width < 768) {
      await page.locator('.ask-row').first().click();
      await page.locator('.ask .answers').waitFor();
    }
    // Icons that turn and rows that are measured come to rest.
    await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
    await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled' });
    await context.close();
  }
} finally {
  await site.close();
}
