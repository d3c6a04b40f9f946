import { useVirtualizer } from '@tanstack/react-virtual';
import type { Virtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { isToolUse } from '../data/events.ts';
import type { EventEnvelope } from '../data/events.ts';
import type { Session, Turn } from '../data/types.ts';
import { usePainted } from '../data/use-painted.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { useKeys } from '../shell/shortcuts.ts';
import { findFold } from './folds.ts';
import { EventRow } from './rows/event-row.tsx';
import { isAbsorbed, isFailure } from './rows/kinds.ts';
import { AgentMessage, Thinking } from './rows/messages.tsx';
import type { LiveItem, TranscriptStore } from './transcript-store.ts';
import { TurnHeader } from './turn-header.tsx';

const ROW = 44;
const OVERSCAN = 6;
const AHEAD = 20;
const REST_MS = 40;
/** Within this distance of the end, new rows are followed. */
const END_PX = 80;
/** What is above and below the transcript. It is measured only once the first rows are there. */
const AROUND_PX = 240;

type Props = {
  store: TranscriptStore;
  version: number;
  session: Session;
  turns: readonly Turn[] | undefined;
  /** a sequence to scroll to */
  target: number | undefined;
  /** called with the visible sequences */
  onRange: (first: number, last: number) => void;
  onSelect: (event: EventEnvelope) => void;
};

type List = Virtualizer<HTMLDivElement, Element>;

function findTurn(turns: readonly Turn[] | undefined, turnId: string | null) {
  const index = (turns ?? []).findIndex((turn) => turn.id === turnId);
  return { number: index === -1 ? undefined : index + 1, turn: turns?.[index] };
}

function LiveRow({ item }: { item: LiveItem }) {
  if (item.type === 'agent.message') return <AgentMessage text={item.text} isStreaming />;
  if (item.type === 'agent.thinking') return <Thinking text={item.text} isOpen={false} onToggle={() => undefined} />;
  const name = isToolUse(item.event) ? item.event.payload.name : undefined;
  return <p className="meta">{name === undefined ? item.type : t('writing a call of {tool} …', { tool: name })}</p>;
}

/** Loads the visible rows, and one page ahead. */
function useLoading(store: TranscriptStore, first: number, last: number, onRange: Props['onRange']) {
  useEffect(() => {
    if (last < 1) return undefined;
    onRange(first, last);
    // Does not load pages that a fast scroll skips.
    const load = async () => {
      await store.ensure(first - AHEAD, last + AHEAD);
      await store.ensureResults(first, last);
    };
    const timer = setTimeout(() => void load(), REST_MS);
    return () => clearTimeout(timer);
  }, [store, first, last, onRange]);
}

/** Follows new rows while the reader is at the end. */
function useFollow(list: List, count: number, version: number, target: number | undefined) {
  const isAtEnd = useRef(true);
  const [isAway, setAway] = useState(false);
  const toEnd = useCallback(() => {
    isAtEnd.current = true;
    setAway(false);
    if (count > 0) list.scrollToIndex(count - 1, { align: 'end' });
  }, [list, count]);
  useLayoutEffect(() => {
    if (isAtEnd.current && target === undefined && count > 0) list.scrollToIndex(count - 1, { align: 'end' });
  }, [list, count, version, target]);
  useEffect(() => {
    if (target === undefined) return;
    isAtEnd.current = false;
    list.scrollToIndex(target - 1, { align: 'center' });
  }, [list, target]);
  const onScroll = () => {
    const element = list.scrollElement;
    if (element === null) return;
    const away = element.scrollHeight - element.scrollTop - element.clientHeight > END_PX;
    isAtEnd.current = !away;
    setAway(away);
  };
  return { isAway, toEnd, onScroll };
}

function useTranscriptKeys(store: TranscriptStore, list: List, current: () => number, toggle: () => void) {
  const go = async (step: 1 | -1, fits: (event: EventEnvelope) => boolean) => {
    const found = await store.seek(current(), step, fits);
    if (found !== undefined) list.scrollToIndex(found - 1, { align: 'start' });
  };
  useKeys({
    ']': () => void go(1, (event) => event.type === 'user.message'),
    '[': () => void go(-1, (event) => event.type === 'user.message'),
    x: () => void go(1, isFailure),
    o: toggle,
    End: () => list.scrollToIndex(store.lastSequence - 1, { align: 'end' }),
    Home: () => list.scrollToIndex(0),
  });
}

type RowProps = Pick<Props, 'store' | 'turns' | 'session'> & {
  event: EventEnvelope | undefined;
  live: LiveItem | undefined;
  opened: ReadonlyMap<string, boolean>;
  onToggle: (id: string, isOpen: boolean) => void;
};

/** An event, an item being written, or the placeholder of an event that is not loaded yet. */
function Row({ event, live, store, turns, session, opened, onToggle }: RowProps) {
  if (event === undefined) {
    if (live === undefined) return <div className="row-placeholder" />;
    return (
      <div className="event">
        <span className="event-time" />
        <div className="event-content">
          <LiveRow item={live} />
        </div>
      </div>
    );
  }
  const fold = findFold(store, event.sequence);
  return (
    <EventRow
      event={event}
      fold={fold}
      isFoldOpen={fold !== undefined && opened.get(fold.id) === true}
      result={isToolUse(event) ? store.findResult(event.payload.id) : undefined}
      output={isToolUse(event) ? store.findOutput(event.payload.id) : undefined}
      answer={store.findAnswer(event.id)}
      turn={store.isTurnStart(event) ? findTurn(turns, event.turnId) : undefined}
      session={session}
      isOpen={opened.get(event.id)}
      isFirstOpenAsk={event.id === session.pendingActions[0]?.eventId}
      onToggle={onToggle}
    />
  );
}

function estimateRow(store: TranscriptStore, index: number): number {
  const event = store.find(index + 1);
  return event !== undefined && isAbsorbed(event) && !store.isTurnStart(event) ? 0 : ROW;
}

/** The first rendering has the rows of the end, or around the target: none are mounted that are not seen. */
function estimateOffset(store: TranscriptStore, target: number | undefined): number {
  const end = target ?? store.lastSequence;
  let height = 0;
  for (let index = 0; index < end; index += 1) height += estimateRow(store, index);
  const view = globalThis.innerHeight - AROUND_PX;
  return Math.max(0, height - (target === undefined ? view : view / 2));
}

/** All events of a session; only visible rows are rendered. */
export function Transcript({ store, version, session, turns, target, onRange, onSelect }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [selected, setSelected] = useState<number>();
  const live = [...store.live.values()].filter((item) => item.text !== '' || item.type === 'agent.tool_use');
  const count = store.lastSequence + live.length;
  const isPainted = usePainted();
  const list = useVirtualizer<HTMLDivElement, Element>({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimateRow(store, index),
    initialRect: { width: 0, height: globalThis.innerHeight - AROUND_PX },
    initialOffset: () => estimateOffset(store, target),
    // Rows render in a task after that of the scroll event.
    useFlushSync: false,
    overscan: isPainted ? OVERSCAN : 0,
    getItemKey: (index) => (index < store.lastSequence ? index : (live[index - store.lastSequence]?.id ?? index)),
  });
  const items = list.getVirtualItems();
  const first = (items[0]?.index ?? 0) + 1;
  const last = (items.at(-1)?.index ?? -1) + 1;
  useLoading(store, first, last, onRange);
  const { isAway, toEnd, onScroll } = useFollow(list, count, version, target);
  const onToggle = useCallback((id: string, isOpen: boolean) => setOpened((old) => new Map(old).set(id, isOpen)), []);
  const top = items.find((item) => item.end > (list.scrollOffset ?? 0));
  const topEvent = top === undefined ? undefined : store.find(top.index + 1);
  useTranscriptKeys(
    store,
    list,
    () => selected ?? (top?.index ?? 0) + 1,
    () => {
      const event = store.find(selected ?? (top?.index ?? 0) + 1);
      if (event !== undefined) onToggle(event.id, opened.get(event.id) !== true);
    },
  );
  return (
    <div className="transcript">
      {store.error === undefined ? null : (
        <ErrorNote error={store.error} onRetry={() => void store.ensure(first, last)} />
      )}
      {topEvent === undefined || topEvent.turnId === null || topEvent.sequence < 3 ? null : (
        <div className="turn-sticky">
          <TurnHeader {...findTurn(turns, topEvent.turnId)} />
        </div>
      )}
      <div
        ref={scroller}
        className="transcript-scroll"
        onScroll={onScroll}
        tabIndex={0}
        role="feed"
        aria-label={t('Transcript')}
        aria-busy="false"
      >
        <VirtualSpace height={list.getTotalSize()}>
          {items.map((item) => {
            const event = item.index < store.lastSequence ? store.find(item.index + 1) : undefined;
            const sequence = item.index + 1;
            return (
              <article
                key={item.key}
                ref={list.measureElement}
                style={{ transform: `translateY(${item.start}px)` }}
                data-index={item.index}
                className={selected === sequence || target === sequence ? 'row-virtual row-selected' : 'row-virtual'}
                aria-posinset={sequence}
                aria-setsize={count}
                onClick={() => {
                  if (event === undefined) return;
                  setSelected(event.sequence);
                  onSelect(event);
                }}
              >
                <Row
                  event={event}
                  live={live[item.index - store.lastSequence]}
                  store={store}
                  turns={turns}
                  session={session}
                  opened={opened}
                  onToggle={onToggle}
                />
              </article>
            );
          })}
        </VirtualSpace>
      </div>
      {isAway ? (
        <Button className="to-end" onClick={toEnd} aria-label={t('To the end')}>
          <ArrowDown size={16} aria-hidden="true" />
        </Button>
      ) : null}
    </div>
  );
}

/** The policy forbids style attributes in markup; React sets styles as properties, which it allows. */
function VirtualSpace({ height, children }: { height: number; children: React.ReactNode }) {
  return (
    <div className="virtual-space" style={{ height }}>
      {children}
    </div>
  );
}
