import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FormEvent } from 'react';
import type { Credits } from '../../../../clients/typescript/generated/credits.ts';
import type { Generation, VideoModel } from '../../../../clients/typescript/generated/generations.ts';
import { BASE, get, request } from '../data/http.ts';
import { queries, useCan } from '../data/queries.ts';
import { t, tCount } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice, TextArea } from '../parts/field.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import type { StatusKind } from '../parts/status.tsx';
import { formatDateTime } from '../text/format.ts';

type Page<T> = { data: T[]; pagination: { has_more: boolean } };
const POLL_MS = 3000;
const LIMIT = 24;
const STATES = { generating: 'running', completed: 'done', failed: 'failed' } as const satisfies Record<
  Generation['status'],
  StatusKind
>;

/** Media of another host is not loaded: the policy of this page forbids it. */
function isOwn(address: string): boolean {
  return new URL(address, BASE).origin === new URL(BASE).origin;
}

function Media({ video }: { video: Generation }) {
  const { video_url: address, thumbnail_url: poster, prompt } = video;
  if (typeof address !== 'string') {
    const text = video.expired === true ? t('The file was deleted.') : (video.error ?? '');
    const percent = video.status === 'generating' ? `${Math.round(video.progress * 100)} %` : '';
    return <div className="video-place">{text === '' ? percent : text}</div>;
  }
  if (!isOwn(address)) {
    return (
      <div className="video-place">
        <a href={address} target="_blank" rel="noreferrer">
          {t('Open the video')}
        </a>
      </div>
    );
  }
  return (
    <video
      controls
      preload="none"
      src={address}
      aria-label={prompt}
      {...(typeof poster === 'string' && isOwn(poster) ? { poster } : {})}
    />
  );
}

function Card({ video }: { video: Generation }) {
  return (
    <li className="video-card">
      <Media video={video} />
      <p className="video-prompt">{video.prompt}</p>
      <p className="meta">
        <Status kind={STATES[video.status]} /> · {video.model_name} · {video.duration} · {video.resolution}
        {video.created_at === null ? '' : ` · ${formatDateTime(video.created_at)}`}
      </p>
    </li>
  );
}

function NewVideo({ models, onClose }: { models: readonly VideoModel[]; onClose: () => void }) {
  const [prompt, setPrompt] = useState('');
  const [chosen, setModel] = useState('');
  const [error, setError] = useState<unknown>();
  const modelName = chosen === '' ? (models[0]?.id ?? '') : chosen;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    try {
      await request('POST', 'api/generations', { body: { prompt, modelName }, idempotencyKey: crypto.randomUUID() });
      await queries.invalidateQueries({ queryKey: ['videos'] });
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <Dialog title={t('New video')} onClose={onClose}>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <TextArea
          label={t('What it shows')}
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
          rows={4}
          maxLength={5000}
          required
          autoFocus
        />
        <Choice label={t('Model')} value={modelName} options={models.map(({ id }) => [id, id])} onChange={setModel} />
        {error === undefined ? null : <ErrorNote error={error} />}
        <div className="dialog-foot">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="primary" type="submit" disabled={prompt.trim() === '' || modelName === ''}>
            {t('Generate')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function useVideos(limit: number) {
  return useQuery({
    queryKey: ['videos', limit],
    queryFn: ({ signal }) => get<Page<Generation>>('api/generations', { limit }, signal),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'generating') === true ? POLL_MS : false,
  });
}

/** Generated videos, and the credits that are left for more. */
export function Videos() {
  const [limit, setLimit] = useState(LIMIT);
  const [isNew, setNew] = useState(false);
  const canWrite = useCan('templates:read');
  const videos = useVideos(limit);
  const models = useQuery({
    queryKey: ['video-models'],
    queryFn: ({ signal }) => get<Page<VideoModel>>('api/models', {}, signal),
  });
  const credits = useQuery({
    queryKey: ['videos', 'credits'],
    queryFn: ({ signal }) => get<{ data: Credits }>('api/credits', {}, signal),
  });
  const rows = videos.data?.data ?? [];
  const left = credits.data?.data.balance;
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Videos')}</h1>
        {left === undefined ? null : (
          <span className="meta">{tCount(left, '{count} credit left', '{count} credits left')}</span>
        )}
        {canWrite ? (
          <Button kind="primary" onClick={() => setNew(true)} disabled={models.data === undefined}>
            {t('New video')}
          </Button>
        ) : null}
      </header>
      {videos.error === null ? null : <ErrorNote error={videos.error} onRetry={() => void videos.refetch()} />}
      {videos.isPending ? <Skeleton rows={2} height={160} /> : null}
      {videos.isSuccess && rows.length === 0 ? <Empty text={t('No video has been generated yet.')} /> : null}
      <ul className="video-grid">
        {rows.map((video) => (
          <Card key={video.id} video={video} />
        ))}
      </ul>
      {videos.data?.pagination.has_more === true ? (
        <Button onClick={() => setLimit(limit + LIMIT)}>{t('Load more')}</Button>
      ) : null}
      {isNew ? <NewVideo models={models.data?.data ?? []} onClose={() => setNew(false)} /> : null}
    </div>
  );
}
