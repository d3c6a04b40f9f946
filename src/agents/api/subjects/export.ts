// Tests: test/agents/api/subjects/export.test.ts
import { Readable } from 'node:stream';
import type { VolumeFiles } from '../../../sandbox/sandbox.ts';
import { SandboxFileError } from '../../../sandbox/sandbox.ts';
import type { FileEntry } from '../../../sandbox/protocol/executor.ts';
import { listApprovals } from '../../store/approvals.ts';
import type { Subject } from '../../store/approvals.ts';
import { listAutomations } from '../../store/automations.ts';
import { listEvents } from '../../store/events.ts';
import { readMemories } from '../../store/memories.ts';
import { listSubjectSessions } from '../../store/sessions.ts';
import { attachmentPrefix } from '../../contract/attachments.ts';
import { buildAutomation } from '../automations/render.ts';
import type { ApiDeps } from '../deps.ts';
import { nameAttachments } from '../events/attachments/stored.ts';
import { isInside, writeTar } from './tar.ts';
import type { TarEntry } from './tar.ts';

const PAGE = 100;
/** Events in one file, which is held whole. */
const EVENTS = 50;

function buildText(path: string, text: string, modifiedMs = Date.now()): TarEntry {
  const bytes = Buffer.from(text);
  return { path, modifiedMs, sizeBytes: bytes.length, body: [bytes] };
}

function buildJson(path: string, value: unknown): TarEntry {
  return buildText(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Reads the pages of a list one after the other. */
async function* readAll<T>(read: (page: { limit: number; cursor?: string }) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page = await read({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    yield* page.rows;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

type Page<T> = { rows: T[]; nextCursor: string | null };

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function* exportRecords({ db }: ApiDeps, subject: Subject): AsyncGenerator<TarEntry> {
  const { agentId, subjectId } = subject;
  const exportedAt = new Date().toISOString();
  yield buildJson('subject.json', { object: 'subject.export', version: 1, agentId, subjectId, exportedAt });
  const memories = await readMemories(db, subject);
  for (const target of ['user', 'memory'] as const) yield buildText(`memory/${target}.md`, memories.get(target) ?? '');
  yield buildJson('approvals.json', await collect(readAll((page) => listApprovals(db, subject, page))));
  const automations = await collect(readAll((page) => listAutomations(db, subject, page)));
  yield buildJson('automations.json', automations.map(buildAutomation));
}

async function* exportSession({ db, objects }: ApiDeps, id: string): AsyncGenerator<TarEntry> {
  let after = 0;
  for (let number = 1; ; number += 1) {
    const events = await listEvents(db, id, after, EVENTS);
    const last = events.at(-1);
    if (last === undefined) break;
    const lines = events.map((event) => `${nameAttachments(JSON.stringify(event), id)}\n`);
    yield buildText(`sessions/${id}/events-${String(number).padStart(6, '0')}.ndjson`, lines.join(''));
    after = last.sequence;
  }
  for await (const { key } of objects.list(attachmentPrefix(id))) {
    const found = await objects.get(key);
    if (found === undefined) continue;
    const { info, body, contentLength } = found;
    const path = `sessions/${id}/attachments/${key.slice(attachmentPrefix(id).length)}`;
    yield { path, modifiedMs: info.updatedAt.getTime(), sizeBytes: contentLength, body };
  }
}

async function openFile(files: VolumeFiles, { path, sizeBytes, modifiedMs }: FileEntry): Promise<TarEntry | undefined> {
  try {
    const { length, body } = await files.open(path, { maxFileBytes: Number.MAX_SAFE_INTEGER, length: sizeBytes });
    const chunks = body instanceof Uint8Array ? [body] : (body as AsyncIterable<Uint8Array>);
    return { path: `files/${path}`, modifiedMs, sizeBytes: length, body: chunks };
  } catch (error) {
    // Deleted or replaced since it was listed.
    if (error instanceof SandboxFileError) return undefined;
    throw error;
  }
}

async function* exportFiles(files: VolumeFiles): AsyncGenerator<TarEntry> {
  const omitted: { path: string; reason: string }[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const { entries } = await files.list('', { recursive: true, limit: PAGE, offset });
    for (const entry of entries) {
      if (entry.type === 'directory') continue;
      const isFile = entry.type === 'file' && entry.special === null;
      // An executor that was taken over may name what it likes.
      const file = isFile && isInside(entry.path) ? await openFile(files, entry) : undefined;
      if (file === undefined) omitted.push({ path: entry.path, reason: entry.special ?? 'gone' });
      else yield file;
    }
    if (entries.length < PAGE) break;
  }
  if (omitted.length > 0) yield buildJson('files-omitted.json', omitted);
}

async function* exportAll(deps: ApiDeps, subject: Subject, files: VolumeFiles | undefined): AsyncGenerator<TarEntry> {
  yield* exportRecords(deps, subject);
  for await (const session of readAll((page) => listSubjectSessions(deps.db, subject, page))) {
    yield buildJson(`sessions/${session.id}/session.json`, session);
    yield* exportSession(deps, session.id);
  }
  if (files !== undefined) yield* exportFiles(files);
}

/** A tar archive of all that is kept about a subject. It is read while it is sent, so a failure cuts it off. */
export function exportSubject(deps: ApiDeps, subject: Subject, files: VolumeFiles | undefined): Readable {
  return Readable.from(writeTar(exportAll(deps, subject, files)), { objectMode: false });
}
