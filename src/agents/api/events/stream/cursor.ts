/** The position of a stream: what a reconnecting client has seen. Opaque to callers. */
export type Cursor = {
  /** last durable event */
  sequence: number;
  /** ms since the epoch, by this service's clock */
  time: number;
  /** last `session.tool_updated`, if it was sent shortly before */
  updateId: string | null;
};

const FORM = /^(\d{1,15})\.([0-9a-z]{1,10})(?:\.([a-z]{1,8}_[0-9a-z]{1,40}))?$/;

export function writeCursor({ sequence, time, updateId }: Cursor): string {
  const text = `${sequence}.${time.toString(36)}${updateId === null ? '' : `.${updateId}`}`;
  return Buffer.from(text).toString('base64url');
}

/** An invalid cursor counts as no cursor. */
export function readCursor(text: string): Cursor | undefined {
  const match = FORM.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (match === null) return undefined;
  const [, sequence = '', time = '', updateId = null] = match;
  return { sequence: Number(sequence), time: Number.parseInt(time, 36), updateId };
}
