import { z } from 'zod';
import {
  AnyPage,
  AnyPagination,
  SubjectId,
  Timestamp,
  queryBoolean,
  queryInteger,
} from '../../platform/contract/common.ts';

/** Of one file, decoded: 40 MiB. */
export const MAX_FILE_BYTES = 41_943_040;
/** Top-level folders that only the service itself changes. */
export const RESERVED_FOLDERS: readonly string[] = ['memories', 'skills'];

const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

function hasLongName(path: string): boolean {
  return path.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
}

/**
 * Relative to the workspace and `/`-separated: one leading slash is stripped, a segment `..` refused, everything else
 * taken as it is. The root is the empty path.
 */
export const FilePath = z
  .string()
  .max(MAX_PATH_BYTES)
  .refine((path) => path.isWellFormed(), 'must be valid Unicode')
  .refine((path) => !/\p{Cc}/u.test(path), 'must not contain control characters')
  .refine((path) => Buffer.byteLength(path) <= MAX_PATH_BYTES, `must be at most ${MAX_PATH_BYTES} bytes`)
  .refine((path) => !hasLongName(path), `must have names of at most ${MAX_NAME_BYTES} bytes`)
  .refine((path) => !path.split('/').includes('..'), 'must not contain ".."');

const NamedPath = FilePath.min(1);

/** Holds a path, base64. */
const FileCursor = z.string().min(1).max(8000);

export const FileListQuery = AnyPage.extend({
  cursor: FileCursor.optional().describe('`nextCursor` of the page before'),
  path: FilePath.default(''),
  recursive: queryBoolean(false),
});
export const FilePathQuery = z.object({ path: NamedPath });
export const FileDeleteQuery = FilePathQuery.extend({ recursive: queryBoolean(false) });
export const FileSearchQuery = z.object({
  query: z
    .string()
    .min(1)
    .max(1000)
    .regex(/^[^\r\n]*$/, 'must be one line'),
  path: FilePath.default(''),
  maxResults: queryInteger({ min: 1, max: 100, default: 20 }),
});

const MimeHint = z.string().min(1).max(255);

/** What a raw body is stored as, and a form as far as its fields do not say it. JSON has all of it in the body. */
export const FileWriteQuery = z.object({
  path: NamedPath.optional(),
  overwrite: queryBoolean(false),
  createParents: queryBoolean(true),
  mimeType: MimeHint.optional(),
});

/** `mimeType` is a hint: the type that is answered follows the content. */
export const FileWrite = z
  .object({
    path: NamedPath,
    encoding: z.enum(['utf-8', 'base64']).default('utf-8'),
    content: z.string(),
    overwrite: z.boolean().default(false),
    createParents: z.boolean().default(true),
    mimeType: MimeHint.optional(),
  })
  .meta({ id: 'FileWrite' });
export type FileWrite = z.infer<typeof FileWrite>;

/** Fields of a form beside the part `file`; without `path` the file's own name is taken. */
export const FileUploadFields = FileWriteQuery;
export const FileUpload = z
  .object({
    file: z.string().meta({ format: 'binary' }),
    path: NamedPath.optional(),
    overwrite: z.enum(['true', 'false']).optional(),
    createParents: z.enum(['true', 'false']).optional(),
    mimeType: MimeHint.optional(),
  })
  .meta({ id: 'FileUpload' });

export const DirectoryCreate = z
  .object({ path: NamedPath, createParents: z.boolean().default(true) })
  .meta({ id: 'DirectoryCreate' });
export const FileTransfer = z
  .object({ from: NamedPath, to: NamedPath, overwrite: z.boolean().default(false) })
  .meta({ id: 'FileTransfer' });

const Entry = z.object({
  path: z.string(),
  name: z.string(),
  type: z.enum(['file', 'directory']),
  sizeBytes: z.int(),
  mimeType: z.string().nullable(),
  checksumSha256: z.string().nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

/** `checksumSha256` is null for a folder and for what the API does not hand out: files over 40 MiB, pipes, dead links. */
export const WorkspaceFile = z
  .object({ object: z.literal('file') })
  .extend(Entry.shape)
  .meta({ id: 'WorkspaceFile' });
export type WorkspaceFile = z.infer<typeof WorkspaceFile>;

export const FileContent = z
  .object({ object: z.literal('file_content') })
  .extend(Entry.omit({ type: true }).shape)
  .extend({ type: z.literal('file'), encoding: z.enum(['utf-8', 'base64']), content: z.string() })
  .meta({ id: 'FileContent' });

export const FileList = z.object({
  object: z.literal('list'),
  path: z.string(),
  data: z.array(WorkspaceFile),
  pagination: AnyPagination.extend({ nextCursor: FileCursor.nullable().describe('null on the last page') }),
});

export const FileMatch = z
  .object({
    object: z.literal('file_match'),
    path: z.string(),
    name: z.string(),
    match: z.array(z.enum(['name', 'content'])),
    excerpt: z.string(),
  })
  .meta({ id: 'FileMatch' });
export type FileMatch = z.infer<typeof FileMatch>;
export const FileMatches = z.object({ object: z.literal('list'), query: z.string(), data: z.array(FileMatch) });

export const FileDeleted = z
  .object({ object: z.literal('file.deleted'), path: z.string(), deleted: z.literal(true) })
  .meta({ id: 'FileDeleted' });

export const VolumeStatus = z.enum(['none', 'warming', 'ready', 'unavailable']);
export type VolumeStatus = z.infer<typeof VolumeStatus>;

export const Volume = z
  .object({
    object: z.literal('sandbox.volume'),
    agentId: z.string(),
    subjectId: SubjectId,
    status: VolumeStatus,
    sizeBytes: z.int(),
    usedBytes: z.int(),
    availableBytes: z.int(),
    maxSizeBytes: z.int(),
    createdAt: Timestamp.nullable(),
    updatedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Volume' });
export type Volume = z.infer<typeof Volume>;
