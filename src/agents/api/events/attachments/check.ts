import { detectMediaType } from '../../../../platform/documents/media-type.ts';
import { dataUrlBytes, decodeDataUrl, readReference } from '../../../contract/attachments.ts';
import type { MessageAttachment } from '../../../contract/attachments.ts';
import type { EventsSend } from '../../../contract/events.ts';
import { errors } from '../../../../platform/errors.ts';
import type { StoredEnds } from './parser.ts';

/** Bytes in which some programs write other things before a PDF begins. */
const PDF_WITHIN = 1024;
const TEXT_SAMPLE = 8192;
/** Names that the type of these archives shows in, wherever the part stands. */
const PARTS: Record<string, string> = {
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'word/',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xl/',
};
const ZIP = 'application/zip';

/** Throws `validation_error` if the content does not match `mediaType`, or is not base64. */
export async function checkAttachments(body: EventsSend, stored: StoredEnds): Promise<void> {
  const faults: string[] = [];
  for (const [index, event] of body.events.entries()) {
    if (event.type !== 'user.message') continue;
    for (const [place, attachment] of (event.attachments ?? []).entries()) {
      const fault = await findFault(attachment, stored);
      if (fault !== undefined) faults.push(`events[${index}].attachments[${place}].${fault}`);
    }
  }
  if (faults.length > 0) throw errors.validation(faults.join('; '));
}

async function findFault({ mediaType, source }: MessageAttachment, stored: StoredEnds): Promise<string | undefined> {
  const isReference = readReference(source.dataUrl) !== undefined;
  const ends = isReference ? stored.get(source.dataUrl) : undefined;
  // Only this service writes references, and only while it reads the request.
  if (isReference && ends === undefined) return 'source.dataUrl: must be a base64 data URL';
  const whole = ends === undefined ? decodeDataUrl(source.dataUrl) : undefined;
  if (whole !== undefined && whole.length !== dataUrlBytes(source.dataUrl)) {
    return 'source.dataUrl: must be a base64 data URL';
  }
  const { head, tail } = ends ?? { head: whole ?? new Uint8Array(), tail: whole ?? new Uint8Array() };
  return (await isOfType(mediaType, Buffer.from(head), Buffer.from(tail)))
    ? undefined
    : `mediaType: must be the type of the content`;
}

async function isOfType(mediaType: string, head: Buffer, tail: Buffer): Promise<boolean> {
  const found = await detectMediaType(head);
  if (mediaType === 'application/pdf') return head.subarray(0, PDF_WITHIN).includes('%PDF-');
  if (mediaType === 'image/png') return found === 'image/png' || found === 'image/apng';
  if (mediaType.startsWith('image/')) return found === mediaType;
  const part = PARTS[mediaType];
  if (part !== undefined)
    return found === mediaType || (found === ZIP && [head, tail].some((end) => end.includes(part)));
  return isText(head, found);
}

/** UTF-16 is detected by its byte order mark; no other text contains NUL. Text formats such as XML count as text. */
function isText(head: Buffer, found: string | undefined): boolean {
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return true;
  if (head.subarray(0, 5).toString('latin1') === '%PDF-') return false;
  if (
    found !== undefined &&
    /^(?:image\/(?!svg)|audio\/|video\/|application\/(?:zip|x-cfb|vnd\.openxml))/.test(found)
  ) {
    return false;
  }
  return !head.subarray(0, TEXT_SAMPLE).includes(0);
}
