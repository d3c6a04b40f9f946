import { useQuery } from '@tanstack/react-query';
import { File, Folder } from 'lucide-react';
import { useState } from 'react';
import type { FileContent, Volume, WorkspaceFile } from '../../../../clients/typescript/generated/files.ts';
import { fetchApi, get } from '../data/http.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Clipped } from '../parts/clipped.tsx';
import { Code } from '../parts/code.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { MarkedText } from '../parts/marked-text.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { saveFile } from '../parts/save-file.ts';
import { formatBytes, formatDateTime } from '../text/format.ts';
import { SubjectChoice } from './subject-choice.tsx';

type Page = { data: WorkspaceFile[]; pagination: { hasMore: boolean; total: number } };

const PAGE = 100;
const MAX_SHOWN_BYTES = 1024 * 1024;
const CODE_LIMIT = 20_000;

function buildPath(agentId: string, subject: string): string {
  return `v1/agents/${encodeURIComponent(agentId)}/users/${encodeURIComponent(subject)}`;
}

async function download(base: string, file: WorkspaceFile): Promise<void> {
  const response = await fetchApi('GET', `${base}/files/content`, {
    query: { path: file.path },
    headers: { accept: 'application/octet-stream' },
  });
  saveFile(await response.blob(), file.name);
}

/** Shows text as text, whatever its type: files written in a sandbox are never opened as a page. */
function Preview({ base, file, onClose }: { base: string; file: WorkspaceFile; onClose: () => void }) {
  const isShown = file.sizeBytes <= MAX_SHOWN_BYTES;
  const [error, setError] = useState<unknown>();
  const content = useQuery({
    queryKey: ['file', base, file.path, file.updatedAt],
    queryFn: ({ signal }) => get<FileContent>(`${base}/files/content`, { path: file.path }, signal),
    enabled: isShown,
    retry: false,
  });
  return (
    <Dialog title={file.name} onClose={onClose} className="dialog-wide">
      <p className="meta">
        {formatBytes(file.sizeBytes)} · {file.mimeType ?? t('unknown type')} · {formatDateTime(file.updatedAt)}
      </p>
      {content.error === null ? null : <ErrorNote error={content.error} onRetry={() => void content.refetch()} />}
      {error === undefined ? null : <ErrorNote error={error} />}
      {isShown && content.isPending ? <Skeleton rows={1} height={160} /> : null}
      {!isShown || content.data?.encoding === 'base64' ? (
        <p className="meta">{t('This file is not shown here. Download it to open it.')}</p>
      ) : null}
      {content.data?.encoding === 'utf-8' ? (
        <Clipped text={content.data.content} limit={CODE_LIMIT}>
          {(shown) => <Code language={file.name.split('.').at(-1) ?? ''} code={shown} />}
        </Clipped>
      ) : null}
      <div className="dialog-foot">
        <Button onClick={() => void download(base, file).catch(setError)}>{t('Download')}</Button>
        <Button kind="primary" onClick={onClose}>
          {t('Close')}
        </Button>
      </div>
    </Dialog>
  );
}

function VolumeLine({ base }: { base: string }) {
  const volume = useQuery({
    queryKey: ['volume', base],
    queryFn: ({ signal }) => get<Volume>(`${base}/volume`, {}, signal),
    retry: false,
  });
  if (volume.data === undefined) return null;
  const { status, usedBytes, maxSizeBytes } = volume.data;
  if (status === 'none') return <p className="meta">{t('No volume yet: nothing has run for this subject.')}</p>;
  return (
    <p className="meta">
      {t('Volume {status}, {used} of {max} used', {
        status,
        used: formatBytes(usedBytes),
        max: formatBytes(maxSizeBytes),
      })}
    </p>
  );
}

/** Links to the folders above this one. */
function Crumbs({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  const parts = path.split('/').filter((part) => part !== '');
  return (
    <nav className="crumbs" aria-label={t('Folder')}>
      <button type="button" className="link" onClick={() => onOpen('')}>
        {t('workspace')}
      </button>
      {parts.map((part, index) => (
        <span key={parts.slice(0, index + 1).join('/')}>
          {' / '}
          <button type="button" className="link" onClick={() => onOpen(parts.slice(0, index + 1).join('/'))}>
            {part}
          </button>
        </span>
      ))}
    </nav>
  );
}

function Rows({ files, onOpen }: { files: readonly WorkspaceFile[]; onOpen: (file: WorkspaceFile) => void }) {
  return (
    <Table columns={['Name', { name: 'Size', isNumber: true }, 'Changed']}>
      {files.map((file) => (
        <tr key={file.path}>
          <td className="cell-title">
            <button type="button" className="link file-name" onClick={() => onOpen(file)}>
              {file.type === 'directory' ? (
                <Folder size={14} aria-label={t('folder')} />
              ) : (
                <File size={14} aria-hidden="true" />
              )}{' '}
              <MarkedText text={file.name} />
            </button>
          </td>
          <td className="cell-number">{file.type === 'directory' ? '' : formatBytes(file.sizeBytes)}</td>
          <td>{formatDateTime(file.updatedAt)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Listing({ agentId, subject }: { agentId: string; subject: string }) {
  const [path, setPath] = useState('');
  const [limit, setLimit] = useState(PAGE);
  const [open, setOpen] = useState<WorkspaceFile>();
  const base = buildPath(agentId, subject);
  const files = useQuery({
    queryKey: ['files', base, path, limit],
    queryFn: async ({ signal }) => {
      const pages: WorkspaceFile[] = [];
      let total = 0;
      for (let offset = 0; offset < limit; offset += PAGE) {
        const page = await get<Page>(`${base}/files`, { path, limit: PAGE, offset }, signal);
        pages.push(...page.data);
        total = page.pagination.total;
        if (!page.pagination.hasMore) break;
      }
      return { data: pages, total };
    },
  });
  const enter = (next: string) => {
    setPath(next);
    setLimit(PAGE);
  };
  return (
    <>
      <VolumeLine base={base} />
      <Crumbs path={path} onOpen={enter} />
      {files.error === null ? null : <ErrorNote error={files.error} onRetry={() => void files.refetch()} />}
      {files.isPending ? <Skeleton /> : null}
      {files.data?.data.length === 0 ? <Empty text={t('This folder is empty.')} /> : null}
      {files.data === undefined || files.data.data.length === 0 ? null : (
        <Rows
          files={files.data.data}
          onOpen={(file) => (file.type === 'directory' ? enter(file.path) : setOpen(file))}
        />
      )}
      {files.data !== undefined && files.data.total > files.data.data.length ? (
        <Button onClick={() => setLimit(limit + PAGE)}>
          {t('Load more of {n}', { n: files.data.total.toLocaleString() })}
        </Button>
      ) : null}
      {open === undefined ? null : <Preview base={base} file={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

type Props = { agentId: string; subject: string; onSubject: (subject: string) => void };

/** The files of a subject's volume. */
export function AgentFiles({ agentId, subject, onSubject }: Props) {
  return (
    <>
      <SubjectChoice agentId={agentId} value={subject} onChange={onSubject} />
      {subject === '' ? (
        <Empty text={t('Choose a subject to see the files of its volume.')} />
      ) : (
        <Listing key={subject} agentId={agentId} subject={subject} />
      )}
    </>
  );
}
