import { z } from 'zod';

export const ATTACHMENT_MEDIA_TYPES = [
  'application/pdf',
  'text/csv',
  'application/csv',
  'text/plain',
  'text/markdown',
  'text/x-markdown',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/bmp',
] as const;

/** 40 MB, counted on the decoded bytes. */
export const ATTACHMENT_MAX_BYTES = 40_000_000;

/** What of a request of events is not a long attachment. */
export const EVENTS_TEXT_BYTES = 64 * 1024 * 1024;
/** Of a request of events: ten attachments in base64, and all that may stand beside them. */
export const EVENTS_BODY_BYTES = 10 * Math.ceil(ATTACHMENT_MAX_BYTES / 3) * 4 + EVENTS_TEXT_BYTES;

/**
 * How the log names an attachment that is kept in the object store, in place of its data URL. It is made when a request
 * is read and replaced when an answer is written: callers neither send nor see it.
 */
export type AttachmentReference = { mediaType: string; sizeBytes: number; sha256: string; key: string };

/** Attachments of one session lie under one prefix, which goes with the session. */
export function attachmentPrefix(sessionId: string): string {
  return `attachments/${sessionId}/`;
}

const REFERENCE = /^capstan-object:([a-z0-9.+-]+\/[a-z0-9.+-]+);(\d{1,12});([0-9a-f]{64});([A-Za-z0-9._/-]{1,300})$/;

export function writeReference({ mediaType, sizeBytes, sha256, key }: AttachmentReference): string {
  return `capstan-object:${mediaType};${sizeBytes};${sha256};${key}`;
}

export function readReference(dataUrl: string): AttachmentReference | undefined {
  const match = REFERENCE.exec(dataUrl.slice(0, 1000));
  if (match === null) return undefined;
  const [, mediaType = '', size = '', sha256 = '', key = ''] = match;
  return { mediaType, sizeBytes: Number(size), sha256, key };
}

/** With parameters such as `charset`, which browsers add. */
const DATA_URL = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9.+-]+=[^;,"\\]{0,100}){0,4};base64,/i;

/** The decoded size of a base64 data URL, or undefined when it is not one. Reads the ends of the text only. */
export function dataUrlBytes(dataUrl: string): number | undefined {
  const head = DATA_URL.exec(dataUrl.slice(0, 300));
  if (head === null) return readReference(dataUrl)?.sizeBytes;
  const length = dataUrl.length - head[0].length;
  if (length % 4 !== 0) return undefined;
  const padding = dataUrl.endsWith('==') ? 2 : dataUrl.endsWith('=') ? 1 : 0;
  return (length / 4) * 3 - padding;
}

export function dataUrlMediaType(dataUrl: string): string | undefined {
  return DATA_URL.exec(dataUrl.slice(0, 300))?.[1]?.toLowerCase() ?? readReference(dataUrl)?.mediaType;
}

/** The bytes of a base64 data URL. */
export function decodeDataUrl(dataUrl: string): Uint8Array {
  return Buffer.from(dataUrl.slice(dataUrl.indexOf(',') + 1), 'base64');
}

/** The last segment, without control and direction characters: a name to show, never a path to use. */
function cleanFilename(name: string): string {
  const segment = name.split(/[/\\]/).findLast((part) => part.trim() !== '') ?? '';
  const shown = segment.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}[\]]/gu, '').trim();
  return shown === '' || /^\.+$/.test(shown) ? 'file' : shown;
}

export const MessageAttachment = z
  .object({
    type: z.literal('file'),
    filename: z.string().min(1).max(255).overwrite(cleanFilename),
    mediaType: z.enum(ATTACHMENT_MEDIA_TYPES),
    sizeBytes: z.int().min(0).max(ATTACHMENT_MAX_BYTES).optional(),
    source: z.object({ type: z.literal('data_url'), dataUrl: z.string().min(1) }),
    analysisMode: z.enum(['default', 'visual']).optional(),
  })
  .superRefine((attachment, context) => {
    const { dataUrl } = attachment.source;
    const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const bytes = dataUrlBytes(dataUrl);
    if (bytes === undefined) return issue(['source', 'dataUrl'], 'must be a base64 data URL');
    if (dataUrlMediaType(dataUrl) !== attachment.mediaType)
      issue(['source', 'dataUrl'], 'must have the type of mediaType');
    if (bytes > ATTACHMENT_MAX_BYTES) issue(['source', 'dataUrl'], `must hold at most ${ATTACHMENT_MAX_BYTES} bytes`);
    if (attachment.sizeBytes !== undefined && attachment.sizeBytes !== bytes) {
      issue(['sizeBytes'], 'must equal the decoded size');
    }
    if (attachment.analysisMode === 'visual' && attachment.mediaType !== 'application/pdf') {
      issue(['analysisMode'], 'must not be "visual" except for PDF');
    }
  })
  .meta({ id: 'MessageAttachment' });
export type MessageAttachment = z.infer<typeof MessageAttachment>;

/** An attachment without its bytes, with the link to them. */
export const AttachmentSummary = z
  .object({
    type: z.literal('file'),
    filename: z.string(),
    mediaType: z.enum(ATTACHMENT_MEDIA_TYPES),
    sizeBytes: z.int(),
    href: z.string().describe('path of the bytes'),
    analysisMode: z.enum(['default', 'visual']).optional(),
  })
  .meta({ id: 'AttachmentSummary' });
export type AttachmentSummary = z.infer<typeof AttachmentSummary>;
