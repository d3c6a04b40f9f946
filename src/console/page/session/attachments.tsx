import { Paperclip, X } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ClipboardEvent, DragEvent } from 'react';
import { t } from '../i18n/t.ts';
import { formatBytes } from '../text/format.ts';

const MAX_FILES = 10;
const MAX_BYTES = 40_000_000;
/** Attachment types by file extension, for types that browsers do not report. */
const BY_ENDING: Record<string, string> = {
  md: 'text/markdown',
  csv: 'text/csv',
  txt: 'text/plain',
  log: 'text/plain',
};
const TYPES = [
  'application/pdf',
  'text/csv',
  'text/plain',
  'text/markdown',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/bmp',
];

export type OutgoingAttachment = {
  type: 'file';
  filename: string;
  mediaType: string;
  sizeBytes: number;
  source: { type: 'data_url'; dataUrl: string };
};

function findType(file: File): string | undefined {
  const type = file.type.split(';')[0] ?? '';
  if (TYPES.includes(type)) return type;
  return BY_ENDING[file.name.split('.').at(-1)?.toLowerCase() ?? ''];
}

function readAsDataUrl(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : ''));
    reader.addEventListener('error', () => reject(reader.error ?? new Error('unreadable')));
    reader.readAsDataURL(file);
  });
}

async function encode(file: File): Promise<OutgoingAttachment> {
  const mediaType = findType(file) ?? '';
  const dataUrl = await readAsDataUrl(file.slice(0, file.size, mediaType));
  // An empty file has no base64 part in some browsers.
  const source = { type: 'data_url' as const, dataUrl: file.size === 0 ? `data:${mediaType};base64,` : dataUrl };
  return { type: 'file', filename: file.name.slice(0, 255), mediaType, sizeBytes: file.size, source };
}

/** Files for a draft: chosen, dropped or pasted. */
export function useAttachments() {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [problem, setProblem] = useState('');
  const add = (list: FileList | null) => {
    const next = [...(list ?? [])];
    const refused = next.find((file) => findType(file) === undefined || file.size > MAX_BYTES);
    const all = [...files, ...next.filter((file) => findType(file) !== undefined && file.size <= MAX_BYTES)];
    setFiles(all.slice(0, MAX_FILES));
    if (refused !== undefined && refused.size > MAX_BYTES)
      setProblem(t('{name} is larger than 40 MB.', { name: refused.name }));
    else if (refused !== undefined) setProblem(t('{name} has a type that cannot be sent.', { name: refused.name }));
    else setProblem(all.length > MAX_FILES ? t('A message carries at most ten files.') : '');
  };
  return {
    files,
    problem,
    add,
    remove: (index: number) => setFiles(files.filter((_file, each) => each !== index)),
    clear: () => setFiles([]),
    encode: () => Promise.all(files.map(encode)),
    receive: {
      onDragOver: (event: DragEvent) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault();
      },
      onDrop: (event: DragEvent) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        add(event.dataTransfer.files);
      },
      onPaste: (event: ClipboardEvent) => {
        if (event.clipboardData.files.length === 0) return;
        event.preventDefault();
        add(event.clipboardData.files);
      },
    },
  };
}

export type Attachments = ReturnType<typeof useAttachments>;

export function AttachmentChips({ attachments }: { attachments: Attachments }) {
  const { files, problem, remove } = attachments;
  return (
    <>
      {problem === '' ? null : (
        <p className="error-text" role="alert">
          {problem}
        </p>
      )}
      {files.length === 0 ? null : (
        <ul className="composer-files" aria-label={t('Attached files')}>
          {files.map((file, index) => (
            <li key={`${index} ${file.name}`} className="chip">
              {file.name} {formatBytes(file.size)}
              <button
                type="button"
                className="chip-remove"
                aria-label={t('Remove {name}', { name: file.name })}
                onClick={() => remove(index)}
              >
                <X size={12} aria-hidden="true" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

export function AttachButton({ attachments }: { attachments: Attachments }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={[...TYPES, ...Object.keys(BY_ENDING).map((ending) => `.${ending}`)].join(',')}
        onChange={(event) => {
          attachments.add(event.target.files);
          event.target.value = '';
        }}
      />
      <button
        type="button"
        className="icon-button"
        aria-label={t('Attach files')}
        onClick={() => input.current?.click()}
      >
        <Paperclip size={16} aria-hidden="true" />
      </button>
    </>
  );
}
