import type { EventEnvelope } from '../../contract/events.ts';
import type { PayloadOf } from '../../log/event.ts';
import { buildDelta } from '../../log/build-events.ts';

type Frame = Pick<EventEnvelope, 'id' | 'type' | 'status' | 'payload'>;

/** Live frames of one turn: what watchers see before an event is durable. Frames of text are joined for a moment. */
export type LiveFrames = {
  /** the next piece of a message or of thinking */
  sendText(type: 'agent.message' | 'agent.thinking', id: string, text: string): void;
  /** a tool call whose arguments are still being written */
  sendPreview(id: string, payload: PayloadOf<'agent.tool_use' | 'agent.mcp_tool_use'>): void;
  /** everything sent so far is out; to be called before the durable event is written */
  flush(): void;
};

/** The first piece goes out at once, later ones at most this often, so that fast models do not flood the bus. */
const JOIN_MS = 20;

/** `started`: the beginning of a message that watchers have already. */
export function openLiveFrames(send: (frame: Frame) => void, started?: { id: string; text: string }): LiveFrames {
  let waiting: { type: 'agent.message' | 'agent.thinking'; id: string; text: string } | undefined;
  /** characters sent so far, by id: tells a watcher who came late that the beginning is missing */
  const sent = new Map<string, number>(started && [[started.id, started.text.length]]);
  let lastSent = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === undefined) return;
    const { type, id, text } = waiting;
    waiting = undefined;
    lastSent = performance.now();
    const offset = sent.get(id) ?? 0;
    sent.set(id, offset + text.length);
    send({ id, type, status: null, payload: buildDelta(type, id, offset, text) });
  };

  return {
    sendText(type, id, text) {
      if (text === '') return;
      if (waiting !== undefined && waiting.id !== id) flush();
      waiting = { type, id, text: (waiting?.text ?? '') + text };
      const pause = lastSent + JOIN_MS - performance.now();
      if (pause <= 0) flush();
      else timer ??= setTimeout(flush, pause);
    },
    sendPreview(id, payload) {
      flush();
      send({ id, type: payload.type, status: 'streaming', payload });
    },
    flush,
  };
}
