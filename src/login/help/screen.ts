import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import type { Logger } from '../../platform/log.ts';
import { errorText } from '../../platform/errors.ts';
import { applyInput } from './input.ts';
import type { HelpEvent, ScreenSize } from './input.ts';

/** One picture of the page: JPEG as base64, and the size of the page in CSS pixels. */
export type Frame = ScreenSize & { image: string };
/** Takes a picture; resolves when it can take the next one. */
export type Viewer = (frame: Frame) => Promise<void>;

const QUALITY = 70;
const MAX_SIZE = { maxWidth: 1600, maxHeight: 1200 };
/** A slower viewer misses pictures. */
const SLOW_VIEWER_MS = 1000;
const MAX_QUEUED = 200;

/** The live picture of the newest page of a context, while it has viewers. */
export class Screen {
  readonly #context: BrowserContext;
  readonly #log: Logger;
  readonly #viewers = new Set<Viewer>();
  #shown: { page: Page; session: CDPSession } | undefined;
  #last: Frame | undefined;
  #following: Promise<void> = Promise.resolve();
  #typing: Promise<void> = Promise.resolve();
  #queued = 0;

  constructor(context: BrowserContext, log: Logger) {
    this.#context = context;
    this.#log = log;
    context.on('page', this.#follow);
    this.#follow();
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Returns the function that ends the view. */
  add(viewer: Viewer): () => void {
    this.#viewers.add(viewer);
    if (this.#last !== undefined) void viewer(this.#last);
    return () => void this.#viewers.delete(viewer);
  }

  /** Sends input to the visible page, in order. False if too many events are pending. */
  input(events: readonly HelpEvent[]): Promise<boolean> {
    if (this.#queued + events.length > MAX_QUEUED) return Promise.resolve(false);
    this.#queued += events.length;
    const page = this.#shown?.page;
    const { width, height } = this.#last ?? page?.viewportSize() ?? { width: 0, height: 0 };
    const done = this.#typing.then(async () => {
      if (page !== undefined && !page.isClosed()) await applyInput(page, { width, height }, events);
      this.#queued -= events.length;
    });
    this.#typing = done;
    return done.then(() => true);
  }

  async close(): Promise<void> {
    this.#viewers.clear();
    this.#context.off('page', this.#follow);
    await this.#following;
    await this.#shown?.session.detach().catch(() => undefined);
  }

  #follow = (): void => {
    this.#following = this.#following
      .then(() => this.#showNewest())
      .catch((error: unknown) => this.#log.debug({ error: errorText(error) }, 'the live picture of a login has ended'));
  };

  async #showNewest(): Promise<void> {
    const page = this.#context.pages().findLast((each) => !each.isClosed());
    if (page === undefined || page === this.#shown?.page) return;
    await this.#shown?.session.detach().catch(() => undefined);
    const session = await this.#context.newCDPSession(page);
    this.#shown = { page, session };
    page.once('close', this.#follow);
    session.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
      const frame = { image: data, width: metadata.deviceWidth, height: metadata.deviceHeight };
      // Chromium sends the next picture once this one is acknowledged.
      void this.#show(frame).then(() => session.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined));
    });
    await session.send('Page.startScreencast', { format: 'jpeg', quality: QUALITY, ...MAX_SIZE });
    await this.#takeFirst({ page, session });
  }

  /** The screencast of a static page may begin late. */
  async #takeFirst({ page, session }: { page: Page; session: CDPSession }): Promise<void> {
    const size = page.viewportSize();
    const { data } = await session.send('Page.captureScreenshot', { format: 'jpeg', quality: QUALITY });
    if (size !== null && this.#shown?.session === session) await this.#show({ image: data, ...size });
  }

  async #show(frame: Frame): Promise<void> {
    this.#last = frame;
    const stop = new AbortController();
    const slow = sleep(SLOW_VIEWER_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    await Promise.race([Promise.all([...this.#viewers].map((viewer) => viewer(frame))), slow]);
    stop.abort();
  }
}
