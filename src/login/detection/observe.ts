import type { BrowserContext, ElementHandle, Frame, Page } from 'playwright-core';
import { getPageScript } from './bundle.ts';
import type { FrameDescription, Observation } from './description.ts';

/** What `page/main.ts` exposes in a page. Its elements have no type here: Node.js has no DOM types. */
type PageCode = {
  describeFrame: (frame: string) => FrameDescription | string;
  findNumbered: (number: number) => unknown;
  findUnseen: (element: unknown) => string | undefined;
};

/** Runs the page code before the scripts of every document in a context. Without it closed shadow roots stay closed. */
export async function installDetection(context: BrowserContext): Promise<void> {
  await context.addInitScript(getPageScript());
}

const READ_CODE = "globalThis[Symbol.for('capstan.detection')]";

async function describeFrame(frame: Frame, name: string): Promise<FrameDescription> {
  const call = `${READ_CODE}?.describeFrame(${JSON.stringify(name)})`;
  let given = await frame.evaluate<FrameDescription | string | undefined>(call);
  if (given === undefined) {
    // A document written by a script, as `setContent` does, may have lost the code.
    await frame.evaluate(getPageScript());
    given = await frame.evaluate<FrameDescription | string>(call);
  }
  return typeof given === 'string' ? (JSON.parse(given) as FrameDescription) : given;
}

/** Whether the frame is visible in each of its parents. */
async function isSeen(frame: Frame): Promise<boolean> {
  const parent = frame.parentFrame();
  if (!parent) return true;
  const element = await frame.frameElement();
  try {
    const unseen = await element.evaluate((node) => {
      const code = (globalThis as unknown as Record<symbol, PageCode | undefined>)[Symbol.for('capstan.detection')];
      return code?.findUnseen(node);
    });
    return unseen === undefined && (await isSeen(parent));
  } finally {
    await element.dispose();
  }
}

/**
 * Describes a page and its visible frames. `allows` decides whether the URL of a frame belongs to the site. Frames of
 * other sites are never read. A frame that disappears meanwhile is left out. If the page itself navigates, this throws
 * Playwright's error, and the caller waits for the next document.
 */
export async function observePage(page: Page, allows: (url: URL) => boolean): Promise<Observation> {
  const main = page.mainFrame();
  const frames = [await describeFrame(main, 'f0')];
  for (const frame of page.frames()) {
    // A frame without a URL has no document, and never answers when its document was refused.
    if (frame === main || frame.isDetached() || frame.url() === '' || !isAllowed(frame, allows)) continue;
    try {
      if (await isSeen(frame)) frames.push(await describeFrame(frame, nameFrame(frame)));
    } catch {
      // The frame disappeared meanwhile.
    }
  }
  return { frames };
}

/** Frames without a URL of their own (`srcdoc`, `about:blank`) count as their parent. */
function isAllowed(frame: Frame, allows: (url: URL) => boolean): boolean {
  const address = frame.url();
  const parent = frame.parentFrame();
  if (address === '' || address.startsWith('about:')) return parent === null || isAllowed(parent, allows);
  return URL.canParse(address) && allows(new URL(address)) && (parent === null || isAllowed(parent, allows));
}

const names = new WeakMap<Frame, string>();
let lastFrame = 0;

function nameFrame(frame: Frame): string {
  if (frame.parentFrame() === null) return 'f0';
  const name = names.get(frame) ?? `f${++lastFrame}`;
  names.set(frame, name);
  return name;
}

/** The frame of an element id, or undefined once it has left the page. */
export function findFrame(page: Page, id: string): Frame | undefined {
  const [name] = id.split('.');
  return page.frames().find((candidate) => nameFrame(candidate) === name);
}

/** The live element of an id, or undefined once it has left the page. The caller disposes of the handle. */
export async function findElement(page: Page, id: string): Promise<ElementHandle | undefined> {
  const [, number] = id.split('.');
  const frame = findFrame(page, id);
  if (!frame || number === undefined || !/^\d+$/.test(number)) return undefined;
  const handle = await frame.evaluateHandle(`${READ_CODE}?.findNumbered(${number})`);
  const element = handle.asElement();
  if (element === null) await handle.dispose();
  return element ?? undefined;
}
