import type { FileEntry } from '../../../sandbox/protocol/executor.ts';
import type { WorkspaceFile } from '../../contract/files.ts';
import { decideMimeType } from './mime.ts';
import { baseName } from './paths.ts';

function toTimestamp(milliseconds: number): string {
  const date = new Date(milliseconds);
  // programs may set any time at all
  const year = date.getUTCFullYear();
  return (year >= 0 && year <= 9999 ? date : new Date(0)).toISOString();
}

export async function buildFile(entry: FileEntry): Promise<WorkspaceFile> {
  const path = entry.path === '.' ? '' : entry.path;
  return {
    object: 'file',
    path,
    name: baseName(path),
    type: entry.type === 'directory' ? 'directory' : 'file',
    sizeBytes: entry.type === 'file' ? entry.sizeBytes : 0,
    mimeType: await decideMimeType(entry),
    checksumSha256: entry.sha256,
    createdAt: toTimestamp(entry.createdMs),
    updatedAt: toTimestamp(entry.modifiedMs),
  };
}
