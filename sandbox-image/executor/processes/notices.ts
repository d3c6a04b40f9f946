import type { ExecutorNotice } from '../../../src/sandbox/protocol/executor.ts';

const KEPT = 200;

export type Notices = {
  send(processId: string, text: string): void;
  /** Hands over what nobody has read yet, then each new notice. Returns how to stop. */
  subscribe(listener: (notice: ExecutorNotice) => void): () => void;
};

/** While nobody listens the last 200 notices wait. */
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
