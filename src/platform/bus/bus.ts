export type BusMessage = {
  subject: string;
  data: unknown;
};

export type Subscription = { close(): void };

/**
 * Moves news between processes. Nothing here is the truth: a message may be lost, and whoever listens can read the
 * database instead. Subjects are dot-separated tokens of `[A-Za-z0-9_-]`; a subscription may end in `>`; data is JSON.
 * Subjects below `capstan.events.` are for `publish` and replay alone, all others for `send`; anything else throws.
 */
export type Bus = {
  /**
   * Delivers at most once to the current listeners: deltas, wake-ups, control messages. Never throws without listeners.
   */
  send(subject: string, data: unknown): void;
  /** As `send`, and kept for an hour for `replay`. `id` makes a repeated publish one message. Resolves when kept. */
  publish(subject: string, data: unknown, id: string): Promise<void>;
  /**
   * Every message from now on. With `queue`, each message goes to one member of the group only. Resolves when the
   * server knows.
   */
  subscribe(
    subject: string,
    handler: (message: BusMessage) => void,
    options?: { queue?: string },
  ): Promise<Subscription>;
  /** What was published under exactly this subject since then, oldest first; at most the last hour. */
  replay(subject: string, since: Date): Promise<BusMessage[]>;
  ping(): Promise<void>;
  close(): Promise<void>;
};
