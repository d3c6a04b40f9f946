import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { pino } from 'pino';
import { openMemoryBus } from '../../src/platform/bus/memory.ts';
import { openMemoryLimits } from '../../src/platform/limits/memory.ts';
import { openFiles } from '../../src/platform/objects/files.ts';
import type { Objects } from '../../src/platform/objects/objects.ts';
import type { Scope } from '../../src/platform/contract/keys.ts';
import type { Generation, GenerationSubmitted } from '../../src/video/contract/generations.ts';
import { openEgress } from '../../src/platform/egress/egress.ts';
import { startHttp } from '../../src/platform/http/start.ts';
import { Lifecycle } from '../../src/platform/lifecycle.ts';
import { buildMasterKeys } from '../../src/platform/master-key.ts';
import { createKey } from '../../src/platform/store/keys.ts';
import { buildModels } from '../../src/video/deps.ts';
import type { VideoPorts } from '../../src/video/deps.ts';
import type { VideoSettings } from '../../src/video/settings.ts';
import type { Engine } from '../../src/video/engines/engine.ts';
import { openStoryboard } from '../../src/video/engines/storyboard/engine.ts';
import { buildSubmitter } from '../../src/video/generations/submitter.ts';
import { openVideoQueue } from '../../src/video/jobs/queue.ts';
import { buildVideoServer } from '../../src/video/server.ts';
import { startVideoWorker } from '../../src/video/worker/start.ts';
import { openEmbeddedDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { makeScratch } from '../support/scratch.ts';
import { MASTER_KEY } from '../support/vaults.ts';

export const MODEL = 'local/storyboard-1';
/** The smallest that the built-in engine draws. */
export const SMALL = { prompt: 'A lighthouse at night', modelName: MODEL, duration: '1s', resolution: '480p' };

export type Answer<T = Record<string, unknown>> = { status: number; body: T; headers: Headers };

export type TestVideo = {
  url: string;
  ports: VideoPorts;
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: { body?: unknown; key?: string; headers?: Record<string, string> },
  ): Promise<Answer<T>>;
  makeKey(organization: string, scopes?: Scope[]): Promise<string>;
  /** ids of what was queued */
  submit(body: Record<string, unknown>, key?: string): Promise<string[]>;
  /** once it has ended */
  finish(id: string, key?: string): Promise<Generation>;
  /** uploads bytes as a caller would; the key to refer to them */
  upload(bytes: Uint8Array, contentType: string, key?: string): Promise<string>;
  startWorker(concurrency?: number): Promise<{ close(): Promise<void> }>;
  close(): Promise<void>;
};

export type TestVideoOptions = {
  settings?: Partial<VideoSettings>;
  engines?: Engine[];
  database?: TestDatabase;
  /** default: files */
  objects?: Objects;
  allow?: string[];
  /** default: one that renders */
  worker?: false;
};

/** The video service behind real HTTP, by default with its built-in engine. */
export async function startVideo(options: TestVideoOptions = {}): Promise<TestVideo> {
  const log = pino({ level: 'silent' });
  const lifecycle = new Lifecycle(log);
  const folder = makeScratch('video');
  await mkdir(folder, { recursive: true });
  lifecycle.onClose('folder', () => rm(folder, { recursive: true, force: true }));
  const database = lifecycle.use('database', options.database ?? (await openEmbeddedDatabase()));
  const { db } = database;
  const bus = lifecycle.use('bus', openMemoryBus());
  const limits = lifecycle.use('limits', openMemoryLimits());
  const objects = lifecycle.use('objects', options.objects ?? (await openFiles({ dir: join(folder, 'objects') })));
  const egress = lifecycle.use('egress', openEgress({ allow: options.allow ?? [] }));
  const queue = lifecycle.use('queue', await openVideoQueue({ db, log }));
  const settings = {
    creditsPerSecond: {},
    initialCredits: 1000,
    freeTierPaused: false,
    retentionDays: 30,
    ...options.settings,
  };
  const models = buildModels(options.engines ?? [openStoryboard()]);
  const masterKeys = buildMasterKeys(MASTER_KEY);
  const submitter = buildSubmitter({ db, bus, queue, settings });
  const ports: VideoPorts = { db, bus, limits, log, objects, egress, masterKeys, queue, submitter, models, settings };
  const server = lifecycle.use('server', await startHttp(buildVideoServer(ports), { host: '127.0.0.1', port: 0 }));
  const url = server.address;
  const startWorker = async (concurrency = 1) =>
    lifecycle.use('worker', await startVideoWorker(ports, { concurrency, base: url, drainMs: 0 }));
  if (options.worker !== false) await startWorker();

  const makeKey: TestVideo['makeKey'] = async (organization, scopes = ['templates:read']) =>
    (await createKey(db, { name: 'test', organization, scopes, requestsPerMinute: 1_000_000 })).key;
  const own = await makeKey('acme');

  const call: TestVideo['call'] = async <T>(
    method: string,
    path: string,
    { body, key = own, headers = {} }: { body?: unknown; key?: string; headers?: Record<string, string> } = {},
  ) => {
    const form = body instanceof FormData || typeof body === 'string';
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, body: (json ? JSON.parse(text) : text) as T, headers: response.headers };
  };

  return {
    url,
    ports,
    call,
    makeKey,
    startWorker,
    async submit(body, key = own) {
      const answer = await call<GenerationSubmitted>('POST', '/api/generations', { body, key });
      if (answer.status !== 202) throw new Error(`not queued: ${JSON.stringify(answer.body)}`);
      return answer.body.data.generations.map(({ id }) => id);
    },
    async finish(id, key = own) {
      const look = async () => (await call<Generation>('GET', `/api/generations/${id}`, { key })).body;
      await expect.poll(async () => (await look()).status, { interval: 100 }).not.toBe('generating');
      return look();
    },
    async upload(bytes, contentType, key = own) {
      const body = { filename: 'file', contentType, sizeBytes: bytes.length };
      const { body: made } = await call<{ data: UploadAddress }>('POST', '/api/uploads', { body, key });
      await putUpload(made.data, bytes);
      return made.data.s3_key;
    },
    close: () => lifecycle.close(),
  };
}

const run = promisify(execFile);

export type UploadAddress = { upload_url: string; s3_key: string; headers: Record<string, string> };

export async function putUpload({ upload_url: address, headers }: UploadAddress, bytes: Uint8Array): Promise<void> {
  const put = await fetch(address, { method: 'PUT', headers, body: new Blob([new Uint8Array(bytes)]) });
  expect(put.status).toBe(200);
}

/** What ffprobe says of a video at an address. */
export async function probeVideo(bytes: Uint8Array): Promise<{
  streams: { codec_type: string; codec_name: string; width?: number; height?: number }[];
  format: { duration: string };
}> {
  const folder = makeScratch('probe');
  const path = join(folder, 'video');
  await writeFile(path, bytes);
  try {
    const args = ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', path];
    const { stdout } = await run('ffprobe', args);
    return JSON.parse(stdout) as Awaited<ReturnType<typeof probeVideo>>;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Everything that must hold of credits at any time; sentences on what does not. */
export async function findLedgerFaults({ db }: Pick<VideoPorts, 'db'>): Promise<string[]> {
  const { rows } = await db.query<{ fault: string }>(
    `SELECT 'the account of ' || a.organization_id || ' is not the sum of its entries' AS fault
     FROM credit_accounts a LEFT JOIN (
       SELECT organization_id, sum(balance_change) AS balance, sum(reserved_change) AS reserved
       FROM credit_entries GROUP BY 1) AS e USING (organization_id)
     WHERE a.balance <> coalesce(e.balance, 0) OR a.reserved <> coalesce(e.reserved, 0)
     UNION ALL
     SELECT g.id || ' is ' || g.state || ' with ' || coalesce(string_agg(e.kind, ' ' ORDER BY e.id), 'no entries')
     FROM generations g LEFT JOIN credit_entries e ON e.generation_id = g.id GROUP BY g.id
     HAVING coalesce(string_agg(e.kind, ' ' ORDER BY e.id), '') <> CASE g.state
       WHEN 'completed' THEN 'reserve settle' WHEN 'failed' THEN 'reserve refund' ELSE 'reserve' END
     UNION ALL
     SELECT 'an entry of ' || e.generation_id || ' is of no generation'
     FROM credit_entries e LEFT JOIN generations g ON g.id = e.generation_id
     WHERE e.generation_id IS NOT NULL AND g.id IS NULL`,
  );
  return rows.map(({ fault }) => fault);
}
