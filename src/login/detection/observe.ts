import type { BrowserContext, ElementHandle, Frame, Page } from 'playwright-core';
import { getPageScript } from './bundle.ts';
import type { FrameDescription, Observation } from './description.ts';

/** What `page/main.ts` leaves in a page. Elements of the page have no type here: this side has no DOM. */
type PageCode = {
  describeFrame: (frame: string) => FrameDescription | string;
  findNumbered: (number: number) => unknown;
  findUnseen: (element: unknown) => string | undefined;
};

/** Puts the page code before the code of every document of a context. Without it closed shadow roots stay closed. */
export async function installDetection(context: BrowserContext): Promise<void> {
  await context.addInitScript(getPageScript());
}

const READ_CODE = "globalThis[Symbol.for('capstan.detection')]";

async function describeFrame(frame: Frame, name: string): Promise<FrameDescription> {
  const call = `${READ_CODE}?.describeFrame(${JSON.stringify(name)})`;
  let given = await frame.evaluate<FrameDescription | string | undefined>(call);
  if (given === undefined) {
    // A document made by script, as `setContent` does, may have lost the code.
    await frame.evaluate(getPageScript());
    given = await frame.evaluate<FrameDescription | string>(call);
  }
  return typeof given === 'string' ? (JSON.parse(given) as FrameDescription) : given;
}

/** Whether a person sees the frame in each of its parents. */
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
 * Describes a page and its visible frames. `allows` says of the address of a frame whether it is of the site; frames of
 * other sites are never looked into. A frame that goes away meanwhile is left out; if it is the page itself this throws
 * Playwright's error, and the caller waits for the next document.
 */
export async function observePage(page: Page, allows: (url: URL) => boolean): Promise<Observation> {
  const main = page.mainFrame();
  const frames = [await describeFrame(main, 'f0')];
  for (const frame of page.frames()) {
    // One without any address has no document, and never answers where its document has been refused.
    if (frame === main || frame.isDetached() || frame.url() === '' || !isAllowed(frame, allows)) continue;
    try {
      if (await isSeen(frame)) frames.push(await describeFrame(frame, nameFrame(frame)));
    } catch {
      // It went away while it was looked at.
    }
  }
  return { frames };
}

/** Frames without an address of their own (`srcdoc`, `about:blank`) are as their parent. */
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

/** The frame that an id of an element belongs to, or nothing once it has left the page. */
export function findFrame(page: Page, id: string): Frame | undefined {
  const [name] = id.split('.');
  return page.frames().find((candidate) => nameFrame(candidate) === name);
}

/** The live element of an id, or nothing once it has left the page. The caller disposes of the handle. */
export async function findElement(page: Page, id: string): Promise<ElementHandle | undefined> {
  const [, number] = id.split('.');
  const frame = findFrame(page, id);
  if (!frame || number === undefined || !/^\d+$/.test(number)) return undefined;
  const handle = await frame.evaluateHandle(`${READ_CODE}?.findNumbered(${number})`);
  const element = handle.asElement();
  if (element === null) await handle.dispose();
  return element ?? undefined;
}
