import { ID, LATER, SUBJECT, TIME, anyListExample } from '../../../platform/contract/examples/example.ts';
import type { Example } from '../../../platform/contract/examples/example.ts';

const text = '# Report\n\nAll is well.\n';
const file = {
  object: 'file',
  path: 'reports/monday.md',
  name: 'monday.md',
  type: 'file',
  sizeBytes: 23,
  mimeType: 'text/markdown',
  checksumSha256: '0c5d5cbd3b4b0a4b0b0f6c3c2d1a9e8f7766554433221100ffeeddccbbaa9988',
  createdAt: TIME,
  updatedAt: LATER,
};
const folder = { ...file, path: 'reports', name: 'reports', type: 'directory', sizeBytes: 0 };
const directory = { ...folder, mimeType: null, checksumSha256: null };
const body = { path: file.path, content: text, overwrite: true };
const moved = { ...file, path: 'archive/monday.md' };
const transfer = { from: file.path, to: moved.path };

export const fileExamples: Record<string, Example> = {
  listFiles: {
    query: { path: 'reports', recursive: 'false' },
    answers: { 200: { ...anyListExample(file), path: 'reports' } },
  },
  deleteFile: {
    query: { path: file.path, recursive: 'false' },
    answers: { 200: { object: 'file.deleted', path: file.path, deleted: true } },
  },
  statFile: { query: { path: file.path }, answers: { 200: file } },
  readFile: {
    query: { path: file.path },
    answers: { 200: { ...file, object: 'file_content', encoding: 'utf-8', content: text } },
  },
  writeFile: { body, answers: { 200: file } },
  uploadFile: { body, answers: { 200: file } },
  makeDirectory: { body: { path: 'reports' }, answers: { 200: directory } },
  moveFile: { body: transfer, answers: { 200: moved } },
  copyFile: { body: transfer, answers: { 200: moved } },
  searchFiles: {
    query: { query: 'well', maxResults: '20' },
    answers: {
      200: {
        object: 'list',
        query: 'well',
        data: [{ object: 'file_match', path: file.path, name: file.name, match: ['content'], excerpt: 'All is well.' }],
      },
    },
  },
  getVolume: {
    answers: {
      200: {
        object: 'sandbox.volume',
        agentId: ID.agent,
        subjectId: SUBJECT,
        status: 'ready',
        sizeBytes: 536_870_912,
        usedBytes: 23,
        availableBytes: 536_870_889,
        maxSizeBytes: 4_294_967_296,
        createdAt: TIME,
        updatedAt: LATER,
      },
    },
  },
};
