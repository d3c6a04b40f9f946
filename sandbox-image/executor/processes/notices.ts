import type { ExecutorNotice } from '../../../src/sandbox/protocol/executor.ts';

const KEPT = 200;

export type Notices = {
  send(processId: string, text: string): void;
  /** Passes on the unread notices, then each new one. Returns a function that stops. */
  subscribe(listener: (notice: ExecutorNotice) => void): () => void;
};

/** Without a listener the last 200 notices are kept. */
export function openNotices(): Notices {
  const listeners = new Set<(notice: ExecutorNotice) => void>();
  let waiting: ExecutorNotice[] = [];
  let sequence = 0;
  return {
    send(processId, text) {
      const notice = { sequence: ++sequence, processId, text };
      if (listeners.size === 0) waiting = [...waiting, notice].slice(-KEPT);
      for (const listener of listeners) listener(notice);
    },
    subscribe(listener) {
      for (const notice of waiting) listener(notice);
      waiting = [];
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
