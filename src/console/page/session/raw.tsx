import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { t } from '../i18n/t.ts';
import { JsonView } from '../parts/json-view.tsx';
import { formatTime } from '../text/format.ts';
import type { TranscriptStore } from './transcript-store.ts';

const ROW = 28;

/** All events in the format of the API. */
export function Raw({ store }: { store: TranscriptStore; version: number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const list = useVirtualizer<HTMLDivElement, Element>({
    count: store.lastSequence,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 10,
  });
  const items = list.getVirtualItems();
  const first = (items[0]?.index ?? 0) + 1;
  const last = (items.at(-1)?.index ?? -1) + 1;
  useEffect(() => {
    if (last >= 1) void store.ensure(first, last);
  }, [store, first, last]);
  const toggle = (sequence: number) =>
    setOpen((old) => {
      const next = new Set(old);
      if (!next.delete(sequence)) next.add(sequence);
      return next;
    });
  return (
    <div ref={scroller} className="transcript-scroll raw" tabIndex={0} role="region" aria-label={t('Raw events')}>
      <div className="virtual-space" style={{ height: list.getTotalSize() }}>
        {items.map((item) => {
          const sequence = item.index + 1;
          const event = store.find(sequence);
          return (
            <div
              key={item.key}
              data-index={item.index}
              className="row-virtual"
              ref={list.measureElement}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <button
                type="button"
                className="raw-line"
                aria-expanded={open.has(sequence)}
                onClick={() => toggle(sequence)}
              >
                <span className="raw-sequence">{sequence}</span>
                <span>{event === undefined ? '' : formatTime(event.createdAt)}</span>
                <span className="raw-type">{event?.type ?? '…'}</span>
                <span className="meta">{event?.id}</span>
              </button>
              {open.has(sequence) && event !== undefined ? <JsonView value={event} /> : null}
            </div>
          );
        })}
      </div>
    </div>
  );
}
