import type { FilePart, InputPart } from '../../inference/model.ts';
import { omitUndefined } from '../../platform/records.ts';
import { invalid } from '../gateway-error.ts';
import { isAbsent } from './fields.ts';

type Detail = 'low' | 'high' | 'auto';

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Detects the format from the first bytes; the declared type is ignored. */
function sniffImage(base64: string): string | undefined {
  const head = Buffer.from(base64.slice(0, 32), 'base64');
  if (head.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'image/jpeg';
  if (head.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))) return 'image/png';
  const text = head.toString('latin1');
  if (text.startsWith('GIF8')) return 'image/gif';
  return text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP' ? 'image/webp' : undefined;
}

export function readImageData(data: string, path: string, detail?: Detail): InputPart {
  const clean = /\s/.test(data) ? data.replaceAll(/\s/g, '') : data;
  const mediaType = BASE64.test(clean) ? sniffImage(clean) : undefined;
  if (mediaType === undefined) throw invalid(path, 'must be a JPEG, PNG, GIF or WebP image in base64');
  return { type: 'image', mediaType, data: clean, ...omitUndefined({ detail }) };
}

/** A PDF in base64 or as a data URL; undefined for anything else. */
export function readPdf(text: string, name: unknown): FilePart | undefined {
  const clean = text.replace(/^data:application\/pdf;base64,/, '');
  // `%PDF` in base64.
  if (!clean.startsWith('JVBER') || !BASE64.test(clean)) return undefined;
  const named = typeof name === 'string' && name !== '' ? { name: name.slice(0, 200) } : {};
  return { type: 'file', mediaType: 'application/pdf', data: clean, ...named };
}

export function readDetail(value: unknown, path: string): Detail | undefined {
  if (isAbsent(value)) return undefined;
  // Newer clients send levels that upstreams do not accept.
  if (value === 'original') return 'high';
  if (value === 'low' || value === 'high' || value === 'auto') return value;
  throw invalid(path, 'must be low, high or auto');
}

/** An image URL: a data URL, or a remote URL if the format allows it. */
export function readImageUrl(url: string, path: string, options: { remote: boolean; detail?: Detail }): InputPart {
  const { remote, detail } = options;
  if (url.startsWith('data:')) {
    const comma = url.indexOf(',');
    if (comma === -1 || !url.slice(0, comma).endsWith(';base64')) throw invalid(path, 'must be a base64 data URL');
    return readImageData(url.slice(comma + 1), path, detail);
  }
  if (!remote) throw invalid(path, 'must be a base64 data URL; remote images are not fetched');
  if (!/^https?:\/\/\S+$/i.test(url)) throw invalid(path, 'must be an http, https or data URL');
  return { type: 'image_url', url, ...omitUndefined({ detail }) };
}
