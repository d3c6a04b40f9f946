import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

import { StartupError, errorText } from '../errors.ts';
import { requireKey } from './key.ts';
import type { ObjectInfo, Objects, SignRequest } from './objects.ts';
import { readSignedPath, signPath } from './signed.ts';

const PART_BYTES = 8 * 1024 * 1024;
const DEFAULT_TYPE = 'application/octet-stream';

export type S3Options = {
  /**
   * `s3://bucket?endpoint=http://host:port&region=us-east-1`; without an endpoint it is AWS. With `private=true` callers do
   * not reach it: signed addresses are paths of our own server.
   */
  url: string;
  /** of those paths; they last as long as it, by default as the process */
  signingKey?: Uint8Array;
  /** default: the usual AWS variables and roles */
  credentials?: { accessKeyId: string; secretAccessKey: string };
};

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

type Described = {
  ContentLength?: number | undefined;
  ContentType?: string | undefined;
  LastModified?: Date | undefined;
};

function describe(key: string, object: Described, sizeBytes = object.ContentLength ?? 0): ObjectInfo {
  return {
    key,
    sizeBytes,
    contentType: object.ContentType ?? DEFAULT_TYPE,
    updatedAt: object.LastModified ?? new Date(),
  };
}

/** The size of the whole object, of which `bytes 0-9/200` is a part. */
function parseTotal(contentRange: string | undefined): number | undefined {
  const total = contentRange?.split('/')[1];
  return total === undefined ? undefined : Number(total);
}

async function ensureBucket(client: S3Client, bucket: string): Promise<void> {
  if (await ifPresent(client.send(new HeadBucketCommand({ Bucket: bucket })))) return;
  await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
    // Another process was faster.
    if (statusOf(error) !== 409) throw error;
  });
}

function buildClient(options: URLSearchParams, credentials: S3Options['credentials']): S3Client {
  const endpoint = options.get('endpoint');
  return new S3Client({
    region: options.get('region') ?? 'us-east-1',
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    ...(credentials ? { credentials } : {}),
    // Servers other than AWS do not all know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 60_000 },
  });
}

type Target = { Bucket: string; Key: string; ContentType: string };

/** Returns the number of bytes sent. */
async function upload(client: S3Client, target: Target, body: Readable | Uint8Array): Promise<number> {
  let sizeBytes = 0;
  async function* counted() {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      sizeBytes += chunk.length;
      yield chunk;
    }
  }
  const Body = body instanceof Readable ? Readable.from(counted(), { objectMode: false }) : body;
  const params = { ...target, Body };
  await new Upload({ client, params, partSize: PART_BYTES, queueSize: 2 }).done();
  return body instanceof Readable ? sizeBytes : body.length;
}

/**
 * Objects in a bucket, which is made when missing. Bodies of unknown length are sent in parts of 8 MiB, so memory stays
 * bounded. Throws `StartupError` when the bucket cannot be used.
 */
export async function openS3({ url, credentials, signingKey = randomBytes(32) }: S3Options): Promise<Objects> {
  const { hostname: Bucket, searchParams } = new URL(url);
  const isPrivate = searchParams.get('private') === 'true';
  const client = buildClient(searchParams, credentials);
  try {
    await ensureBucket(client, Bucket);
  } catch (error) {
    client.destroy();
    throw new StartupError(`The bucket ${Bucket} cannot be used: ${errorText(error)}`, { cause: error });
  }

  async function head(key: string): Promise<ObjectInfo | undefined> {
    requireKey(key);
    const object = await ifPresent(client.send(new HeadObjectCommand({ Bucket, Key: key })));
    return object && describe(key, object);
  }

  async function get(key: string, range?: { start: number; end?: number }): ReturnType<Objects['get']> {
    requireKey(key);
    const Range = range && `bytes=${range.start}-${range.end ?? ''}`;
    try {
      const object = await ifPresent(client.send(new GetObjectCommand({ Bucket, Key: key, Range })));
      if (!object) return undefined;
      const contentLength = object.ContentLength ?? 0;
      const info = describe(key, object, parseTotal(object.ContentRange) ?? contentLength);
      return { info, body: object.Body as Readable, contentLength };
    } catch (error) {
      if (statusOf(error) !== 416) throw error;
      const info = await head(key);
      return info && { info, body: Readable.from([]), contentLength: 0 };
    }
  }

  async function* list(prefix: string): AsyncGenerator<ObjectInfo> {
    for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix: prefix })) {
      for (const { Key = '' } of page.Contents ?? []) {
        // A listing does not tell content types.
        const info = await head(Key);
        if (info) yield info;
      }
    }
  }

  async function sign(request: SignRequest): Promise<string> {
    const { method, key: Key, expiresInSeconds: expiresIn, contentType, sizeBytes, fileName } = request;
    requireKey(Key);
    if (isPrivate) return signPath(signingKey, request, Date.now());
    if (method === 'GET') {
      const shown = fileName === undefined ? {} : { ResponseContentDisposition: `inline; filename="${fileName}"` };
      return getSignedUrl(client, new GetObjectCommand({ Bucket, Key, ...shown }), { expiresIn });
    }
    const command = new PutObjectCommand({ Bucket, Key, ContentType: contentType, ContentLength: sizeBytes });
    // Signed as headers, so that neither can be another one.
    return getSignedUrl(client, command, { expiresIn, signableHeaders: new Set(['content-type', 'content-length']) });
  }

  return {
    sign,
    ...(isPrivate ? { readSigned: (method, path) => readSignedPath(signingKey, method, path, Date.now()) } : {}),
    put: async (key, body, { contentType: ContentType }) => {
      requireKey(key);
      const sizeBytes = await upload(client, { Bucket, Key: key, ContentType }, body);
      return { key, sizeBytes, contentType: ContentType, updatedAt: new Date() };
    },
    get,
    head,
    delete: async (key) => {
      requireKey(key);
      await ifPresent(client.send(new DeleteObjectCommand({ Bucket, Key: key })));
    },
    list,
    ping: async () => {
      await client.send(new HeadBucketCommand({ Bucket }));
    },
    close: () => {
      client.destroy();
      return Promise.resolve();
    },
  };
}
