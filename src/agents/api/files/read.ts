import type { VolumeFiles } from '../../../sandbox/sandbox.ts';
import type { WorkspaceFile } from '../../contract/files.ts';
import { errors } from '../../../platform/errors.ts';
import { buildFile } from './render.ts';

/** Throws `not_found`, also when it was there a moment ago. */
export async function getFile(files: VolumeFiles, path: string): Promise<WorkspaceFile> {
  const entry = await files.describe(path);
  if (entry === undefined) throw errors.notFound('file or folder');
  return buildFile({ ...entry, path });
}
