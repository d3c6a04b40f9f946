import { useCallback, useEffect, useRef } from 'react';
import type { PointerEvent } from 'react';
import { isToolUse, threadIdOf } from '../data/events.ts';
import type { EventEnvelope } from '../data/events.ts';
import { t } from '../i18n/t.ts';
import { isFailure } from './rows/kinds.ts';
import type { TranscriptStore } from './transcript-store.ts';

type Props = {
  store: TranscriptStore;
  version: number;
  range: readonly [first: number, last: number];
  onSeek: (sequence: number) => void;
};

const LANE = 8;
const MAX_LANES = 4;

function findColour(event: EventEnvelope): string | undefined {
  if (isFailure(event)) return '--error';
  if (event.type.startsWith('user.')) return '--text';
  if (event.type === 'agent.approval_request' || event.type === 'agent.clarify_request') return '--waiting';
  if (event.type === 'agent.thinking') return '--thinking';
  if (isToolUse(event)) return '--accent';
  return event.type === 'agent.message' ? '--ok' : undefined;
}

/** The lane of each thread, in order of appearance; the last lane holds all further threads. */
function buildLanes(): (event: EventEnvelope) => number {
  const lanes = new Map<string, number>();
  return (event) => {
    const id = threadIdOf(event) ?? '';
    const known = lanes.get(id);
    if (known !== undefined) return known;
    const lane = id === '' ? 0 : Math.min(MAX_LANES - 1, lanes.size === 0 ? 1 : lanes.size);
    lanes.set(id, lane);
    return lane;
  };
}

function draw(canvas: HTMLCanvasElement, { store, range }: Props): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const ratio = globalThis.devicePixelRatio;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  context.scale(ratio, ratio);
  const styles = getComputedStyle(canvas);
  const colour = (name: string) => styles.getPropertyValue(name);
  const scale = width / Math.max(1, store.lastSequence);
  const mark = Math.max(1.5, Math.min(12, scale - 1));
  const laneOf = buildLanes();
  context.fillStyle = colour('--sunken');
  context.fillRect((range[0] - 1) * scale, 0, Math.max(4, (range[1] - range[0] + 1) * scale), height);
  for (const event of store.loaded()) {
    const name = findColour(event);
    if (name === undefined) continue;
    const x = (event.sequence - 1) * scale;
    context.fillStyle = colour(name);
    if (name === '--error') context.fillRect(x, 2, mark, height - 4);
    else context.fillRect(x, 6 + laneOf(event) * (LANE + 2), mark, LANE);
  }
}

/** An overview of the session: one mark per event, one lane per thread, errors over the full height. Dragging seeks. */
export function Minimap(props: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { store, version, range, onSeek } = props;
  useEffect(() => {
    const frame = requestAnimationFrame(() => canvas.current !== null && draw(canvas.current, props));
    return () => cancelAnimationFrame(frame);
  });
  const seek = useCallback(
    (event: PointerEvent<HTMLCanvasElement>) => {
      const box = event.currentTarget.getBoundingClientRect();
      const share = (event.clientX - box.left) / Math.max(1, box.width);
      onSeek(Math.max(1, Math.min(store.lastSequence, Math.ceil(share * store.lastSequence))));
    },
    [store, onSeek],
  );
  return (
    <canvas
      ref={canvas}
      className="minimap"
      data-version={version}
      role="slider"
      tabIndex={0}
      aria-label={t('Position in the session')}
      aria-valuemin={1}
      aria-valuemax={Math.max(1, store.lastSequence)}
      aria-valuenow={range[0]}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        seek(event);
      }}
      onPointerMove={(event) => {
        if (event.buttons === 1) seek(event);
      }}
      onKeyDown={(event) => {
        const step = { ArrowLeft: -10, ArrowRight: 10, PageUp: -100, PageDown: 100 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        onSeek(Math.max(1, Math.min(store.lastSequence, range[0] + step)));
      }}
    />
  );
}
