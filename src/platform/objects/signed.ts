import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedUse, SignRequest } from './objects.ts';

/** The path prefix of signed paths, for object stores without their own server. */
export const SIGNED_PREFIX = '/objects/';

type Fields = { expires: string; type: string; size: string; name: string };

function buildSignature(secret: Uint8Array, method: string, key: string, fields: Fields): string {
  const signed = JSON.stringify([method, key, fields.expires, fields.type, fields.size, fields.name]);
  return createHmac('sha256', secret).update(signed).digest('base64url');
}

/** A path that contains its permissions and a signature. */
export function signPath(secret: Uint8Array, request: SignRequest, now: number): string {
  const fields: Fields = {
    expires: String(Math.floor(now / 1000) + request.expiresInSeconds),
    type: request.contentType ?? '',
    size: request.sizeBytes === undefined ? '' : String(request.sizeBytes),
    name: request.fileName ?? '',
  };
  const given = Object.entries(fields).filter(([, value]) => value !== '');
  const query = new URLSearchParams([
    ...given,
    ['signature', buildSignature(secret, request.method, request.key, fields)],
  ]);
  return `${SIGNED_PREFIX}${request.key}?${query.toString()}`;
}

/** The permissions of a signed path; undefined if it was not signed for this method, was changed or has expired. */
export function readSignedPath(
  secret: Uint8Array,
  method: 'GET' | 'PUT',
  path: string,
  now: number,
): SignedUse | undefined {
  const url = URL.parse(path, 'http://localhost');
  if (url === null || !url.pathname.startsWith(SIGNED_PREFIX)) return undefined;
  const key = url.pathname.slice(SIGNED_PREFIX.length);
  const read = (name: string) => url.searchParams.get(name) ?? '';
  const fields: Fields = { expires: read('expires'), type: read('type'), size: read('size'), name: read('name') };
  const wanted = Buffer.from(buildSignature(secret, method, key, fields));
  const found = Buffer.from(read('signature'));
  if (wanted.length !== found.length || !timingSafeEqual(wanted, found)) return undefined;
  if (!(Number(fields.expires) > now / 1000)) return undefined;
  return {
    key,
    ...(fields.type === '' ? {} : { contentType: fields.type }),
    ...(fields.size === '' ? {} : { sizeBytes: Number(fields.size) }),
    ...(fields.name === '' ? {} : { fileName: fields.name }),
  };
}
