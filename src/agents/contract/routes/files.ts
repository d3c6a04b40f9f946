import { z } from 'zod';
import { Id, SubjectId } from '../../../platform/contract/common.ts';
import {
  MAX_FILE_BYTES,
  DirectoryCreate,
  FileContent,
  FileDeleteQuery,
  FileDeleted,
  FileList,
  FileListQuery,
  FileMatches,
  FilePathQuery,
  FileSearchQuery,
  FileTransfer,
  FileUpload,
  FileWrite,
  FileWriteQuery,
  Volume,
  WorkspaceFile,
} from '../files.ts';
import { defineRoute } from '../../../platform/contract/route.ts';

const params = z.object({ agentId: Id, subjectId: SubjectId });
const PREFIX = '/v1/agents/{agentId}/users/{subjectId}';
const read = { tag: 'Files', scope: 'agents:read', params } as const;
const write = { tag: 'Files', scope: 'agents:write', params } as const;
/** 40 MiB of text in which every letter is escaped as `\uXXXX`, and the other fields; what else comes is counted as it is read. */
const JSON_BODY_LIMIT = 3 * MAX_FILE_BYTES + 1024 * 1024;

const content = {
  ...write,
  path: `${PREFIX}/files/content`,
  query: FileWriteQuery,
  media: {
    'application/json': FileWrite,
    'application/octet-stream': 'binary',
    'multipart/form-data': FileUpload,
  },
  bodyLimit: JSON_BODY_LIMIT,
  responses: { 200: WorkspaceFile },
  errors: ['not_found', 'conflict'],
} as const;

export const fileRoutes = {
  listFiles: defineRoute({
    ...read,
    id: 'listFiles',
    method: 'GET',
    path: `${PREFIX}/files`,
    summary: 'The entries of a folder: folders first, then by name, hidden ones too',
    query: FileListQuery,
    responses: { 200: FileList },
    errors: ['not_found'],
  }),
  deleteFile: defineRoute({
    ...write,
    id: 'deleteFile',
    method: 'DELETE',
    path: `${PREFIX}/files`,
    summary: 'Delete a file, or a folder; a full folder only with `recursive`',
    query: FileDeleteQuery,
    responses: { 200: FileDeleted },
    errors: ['not_found', 'conflict'],
  }),
  statFile: defineRoute({
    ...read,
    id: 'statFile',
    method: 'GET',
    path: `${PREFIX}/files/stat`,
    summary: 'One file or folder',
    query: FilePathQuery,
    responses: { 200: WorkspaceFile },
    errors: ['not_found'],
  }),
  readFile: defineRoute({
    ...read,
    id: 'readFile',
    method: 'GET',
    path: `${PREFIX}/files/content`,
    summary: 'The content of a file, as JSON or, with `Accept: application/octet-stream`, its bytes',
    query: FilePathQuery,
    headers: [
      { name: 'Accept', description: '`application/octet-stream` for the bytes themselves' },
      { name: 'Range', description: 'one range of bytes, beside `Accept: application/octet-stream`' },
    ],
    responses: { 200: FileContent, 206: 'binary' },
    binary: true,
    errors: ['not_found', 'range_not_satisfiable'],
  }),
  writeFile: defineRoute({
    ...content,
    id: 'writeFile',
    method: 'PUT',
    summary: 'Write a file, at most 40 MiB: as JSON, as raw bytes or as a form with the part `file`',
  }),
  uploadFile: defineRoute({
    ...content,
    id: 'uploadFile',
    method: 'POST',
    summary: 'The same as `PUT`, for forms',
  }),
  makeDirectory: defineRoute({
    ...write,
    id: 'makeDirectory',
    method: 'POST',
    path: `${PREFIX}/files/mkdir`,
    summary: 'Make a folder; one that exists is answered as it is',
    body: DirectoryCreate,
    responses: { 200: WorkspaceFile },
    errors: ['not_found', 'conflict'],
  }),
  moveFile: defineRoute({
    ...write,
    id: 'moveFile',
    method: 'POST',
    path: `${PREFIX}/files/move`,
    summary: 'Move a file or a folder; missing parents of the destination are made',
    body: FileTransfer,
    responses: { 200: WorkspaceFile },
    errors: ['not_found', 'conflict'],
  }),
  copyFile: defineRoute({
    ...write,
    id: 'copyFile',
    method: 'POST',
    path: `${PREFIX}/files/copy`,
    summary: 'Copy a file, or a folder with all below',
    body: FileTransfer,
    responses: { 200: WorkspaceFile },
    errors: ['not_found', 'conflict'],
  }),
  searchFiles: defineRoute({
    ...read,
    id: 'searchFiles',
    method: 'GET',
    path: `${PREFIX}/files/search`,
    summary: 'Entries whose name or text holds the query, taken literally',
    query: FileSearchQuery,
    responses: { 200: FileMatches },
    errors: ['not_found'],
  }),
  getVolume: defineRoute({
    ...read,
    id: 'getVolume',
    method: 'GET',
    path: `${PREFIX}/volume`,
    summary: 'The volume that holds the files of a subject',
    responses: { 200: Volume },
    errors: ['not_found'],
  }),
};
