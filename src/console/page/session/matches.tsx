import { useInfiniteQuery } from '@tanstack/react-query';
import { Search, X } from 'lucide-react';
import { isToolResult, isToolUse, textOf } from '../data/events.ts';
import type { EventEnvelope } from '../data/events.ts';
import { get } from '../data/http.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice } from '../parts/field.tsx';
import { MarkedText } from '../parts/marked-text.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { formatTime } from '../text/format.ts';
import { nameTool, summarizeInput } from './rows/tool-summary.ts';

const PAGE = 50;
const EXCERPT = 240;

/** The selectable kinds, and their event types. */
const KINDS: Record<string, readonly string[]> = {
  messages: ['user.message', 'user.steer', 'agent.message'],
  thinking: ['agent.thinking'],
  calls: ['agent.tool_use', 'agent.mcp_tool_use', 'agent.custom_tool_use'],
  results: ['agent.tool_result', 'agent.mcp_tool_result', 'user.custom_tool_result'],
  asks: ['agent.approval_request', 'agent.clarify_request', 'user.approval_response', 'user.clarify_result'],
  stops: ['session.status_idle', 'user.interrupt'],
};
const NAMES: readonly (readonly [string, string])[] = [
  ['', 'All events'],
  ['messages', 'Messages'],
  ['thinking', 'Thinking'],
  ['calls', 'Tool calls'],
  ['results', 'Tool results'],
  ['asks', 'Requests and answers'],
  ['stops', 'Ends of turns'],
];

export type Filter = { find: string; kind: string };

/** Accepts only known kinds: the address can contain anything. */
export function readFilter(find: string | undefined, kind: string | undefined): Filter {
  return { find: (find ?? '').slice(0, 200), kind: kind !== undefined && Object.hasOwn(KINDS, kind) ? kind : '' };
}

function summarize(event: EventEnvelope): string {
  if (isToolUse(event)) return `${nameTool(event.payload)} ${summarizeInput(event.payload.input)}`;
  const { payload } = event;
  const hasText = 'content' in payload || ('message' in payload && payload.message !== undefined);
  return hasText ? textOf(payload) : JSON.stringify(payload);
}

/** The text around the first match. */
function excerpt(event: EventEnvelope, find: string): string {
  const summary = summarize(event);
  const isThere = summary.toLowerCase().includes(find.toLowerCase());
  const text = isThere ? summary : JSON.stringify(event.payload);
  const start = Math.max(0, text.toLowerCase().indexOf(find.toLowerCase()) - 40);
  return `${start > 0 ? '…' : ''}${text.slice(start, start + EXCERPT)}`.replaceAll(/\s+/g, ' ');
}

type Page = { data: EventEnvelope[] };

function useMatches(sessionId: string, { find, kind }: Filter) {
  return useInfiniteQuery({
    queryKey: ['matches', sessionId, find, kind],
    queryFn: ({ pageParam, signal }) =>
      get<Page>(
        `v1/sessions/${encodeURIComponent(sessionId)}/events`,
        {
          order: 'desc',
          limit: PAGE,
          attachments: 'omit',
          q: find,
          types: KINDS[kind]?.join(','),
          before: pageParam,
        },
        signal,
      ),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ data }) => (data.length < PAGE ? undefined : data.at(-1)?.sequence),
  });
}

/**
 * The events of a session that match a text or a kind, newest first. The server searches, because most rows are not
 * loaded.
 */
export function Matches({
  sessionId,
  filter,
  onOpen,
}: {
  sessionId: string;
  filter: Filter;
  onOpen: (event: EventEnvelope) => void;
}) {
  const matches = useMatches(sessionId, filter);
  const rows = (matches.data?.pages ?? []).flatMap(({ data }) => data);
  return (
    <div className="matches" tabIndex={0} role="region" aria-label={t('Found events')}>
      {matches.error === null ? null : <ErrorNote error={matches.error} onRetry={() => void matches.refetch()} />}
      {matches.isPending ? <Skeleton /> : null}
      {matches.isSuccess && rows.length === 0 ? <Empty text={t('No event of this session matches.')} /> : null}
      {rows.map((event) => (
        <button key={event.id} type="button" className="match" onClick={() => onOpen(event)}>
          <span className="match-head">
            {formatTime(event.createdAt)} · {event.type}
            {isToolResult(event) && event.payload.is_error === true ? (
              <span className="error-text"> {t('failed')}</span>
            ) : null}
          </span>
          <span className="match-text">
            <MarkedText text={excerpt(event, filter.find)} />
          </span>
        </button>
      ))}
      {matches.hasNextPage ? (
        <Button disabled={matches.isFetchingNextPage} onClick={() => void matches.fetchNextPage()}>
          {t('Load more')}
        </Button>
      ) : null}
    </div>
  );
}

/** Search and filter above the transcript. Enter searches; Escape goes back. */
export function FindBar({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const isActive = filter.find !== '' || filter.kind !== '';
  return (
    <search className="find-bar" aria-label={t('Find in this session')}>
      <Search size={14} aria-hidden="true" />
      <input
        key={filter.find}
        type="search"
        aria-label={t('Find in this session')}
        placeholder={t('Find in this session')}
        defaultValue={filter.find}
        maxLength={200}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onChange({ ...filter, find: event.currentTarget.value.trim() });
          if (event.key === 'Escape') onChange({ find: '', kind: '' });
        }}
      />
      <Choice
        isInline
        label={t('Show')}
        value={filter.kind}
        options={NAMES.map(([value, text]) => [value, t(text)])}
        onChange={(kind) => onChange({ ...filter, kind })}
      />
      {isActive ? (
        <button
          type="button"
          className="icon-button"
          aria-label={t('Back to the transcript')}
          onClick={() => onChange({ find: '', kind: '' })}
        >
          <X size={16} aria-hidden="true" />
        </button>
      ) : null}
    </search>
  );
}
