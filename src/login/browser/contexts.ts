import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import type { Egress } from '../../platform/egress/egress.ts';
import type { LoginBrowser } from './browser.ts';
import { openJobProxy } from './proxy.ts';
import type { JobProxy } from './proxy.ts';

export type ContextOptions = Pick<BrowserContextOptions, 'storageState' | 'httpCredentials' | 'userAgent'>;

/** A browser context and the proxy that is its only access to the network. */
export type OpenContext = {
  context: BrowserContext;
  proxy: JobProxy;
  /** aborted when its page crashes before it is used */
  broken: AbortSignal;
};

/** A context whose only access to the network is the proxy, which outlives it. */
export function openBeside(own: LoginBrowser, proxy: JobProxy, options: ContextOptions = {}): Promise<BrowserContext> {
  return own.browser.newContext({
    proxy: { server: proxy.url },
    acceptDownloads: false,
    permissions: [],
    locale: 'en-US',
    userAgent: own.userAgent,
    viewport: { width: 1280, height: 900 },
    ...options,
  });
}

/** Opens a context for one job. `ahead`: opens an empty page in it, before a job needs one. */
export async function openContext(
  { own, egress }: { own: LoginBrowser; egress: Egress },
  options: ContextOptions,
  ahead = false,
): Promise<OpenContext> {
  const proxy = await openJobProxy(egress);
  try {
    const context = await openBeside(own, proxy, options);
    const broken = new AbortController();
    if (ahead) (await context.newPage()).once('crash', () => broken.abort());
    return { context, proxy, broken: broken.signal };
  } catch (error) {
    await proxy.close();
    throw error;
  }
}

/**
 * One context of a browser, opened before a job needs it and used once. Starting the process of its page takes a
 * quarter of the time of a login.
 */
export function openPrewarmedContext(from: { own: LoginBrowser; egress: Egress }) {
  let prewarmed: Promise<OpenContext> | undefined;
  const close = ({ context, proxy }: OpenContext) => Promise.allSettled([context.close(), proxy.close()]);
  return {
    prepare(): void {
      if (prewarmed !== undefined) return;
      prewarmed = openContext(from, {}, true);
      prewarmed.catch(() => undefined);
    },
    /** A context with an empty page, or undefined if none is usable. */
    async take(): Promise<OpenContext | undefined> {
      const awaited = prewarmed;
      prewarmed = undefined;
      const taken = await awaited?.catch(() => undefined);
      if (taken === undefined || !taken.broken.aborted) return taken;
      void close(taken);
      return undefined;
    },
    /** The context ends with its browser; only the proxy is left to close. */
    drop(): void {
      void prewarmed?.then(({ proxy }) => proxy.close()).catch(() => undefined);
      prewarmed = undefined;
    },
  };
}

export type PrewarmedContext = ReturnType<typeof openPrewarmedContext>;
