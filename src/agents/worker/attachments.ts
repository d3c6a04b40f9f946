import { buffer } from 'node:stream/consumers';
import type { AttachmentPort } from '../loop/history/attachments.ts';
import { attachmentPrefix, decodeDataUrl, readReference } from '../contract/attachments.ts';
import type { MessageAttachment } from '../contract/attachments.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { decodeText } from '../../platform/documents/charset.ts';
import { convertDocument } from '../../platform/documents/convert.ts';
import { drawPdf, prepareImage } from '../../platform/documents/draw.ts';
import { DocumentError } from '../../platform/documents/error.ts';
import { isDocumentType } from '../../platform/documents/formats.ts';
import type { Picture } from '../../platform/documents/job.ts';
import type { InputPart, ModelInfo } from '../../inference/model.ts';

/** Pages of one PDF that are shown as pictures; the rest of it is shown as text. Providers take 20 images and more. */
const MAX_PICTURED_PAGES = 20;
/** Half the window, at about four characters a token: the attachments of one message take no more of it. */
const CHARACTERS_PER_TOKEN = 2;

/** Converts attachments to parts for the model. Cached per message, because every call of a turn repeats them. */
export function buildAttachmentPort(
  sessionId: string,
  objects: Objects,
  findModel: () => ModelInfo | undefined,
): AttachmentPort {
  const kept = new Map<string, InputPart[]>();
  return {
    async read(eventId, attachments, signal) {
      const known = kept.get(eventId);
      if (known !== undefined) return known;
      const model = findModel();
      const room = Math.floor(((model?.contextWindow ?? 0) * CHARACTERS_PER_TOKEN) / attachments.length);
      const parts: InputPart[] = [];
      for (const attachment of attachments) {
        const bytes = await readBytes(attachment.source.dataUrl, sessionId, objects);
        parts.push(...(await readAttachment(attachment, bytes, { vision: model?.vision === true, room }, signal)));
      }
      kept.set(eventId, parts);
      return parts;
    },
  };
}

/** From the log, or from the object store when the log only names it. */
async function readBytes(dataUrl: string, sessionId: string, objects: Objects): Promise<Uint8Array | undefined> {
  const reference = readReference(dataUrl);
  if (reference === undefined) return decodeDataUrl(dataUrl);
  if (!reference.key.startsWith(attachmentPrefix(sessionId))) return undefined;
  const found = await objects.get(reference.key);
  return found && (await buffer(found.body));
}

type Reader = { vision: boolean; room: number };

async function readAttachment(
  attachment: MessageAttachment,
  bytes: Uint8Array | undefined,
  reader: Reader,
  signal: AbortSignal,
): Promise<InputPart[]> {
  const { mediaType, analysisMode, filename } = attachment;
  try {
    if (bytes === undefined) throw new DocumentError('broken', 'It is no longer kept.');
    if (mediaType.startsWith('image/')) return await readImage(attachment, bytes, reader, signal);
    if (!isDocumentType(mediaType))
      return [showText(`[Attached file: ${filename}]`, decodeText(bytes, null, false), reader.room)];
    if (analysisMode === 'visual' && reader.vision) return await readPages(attachment, bytes, reader, signal);
    const { text } = await convertDocument(bytes, mediaType, signal);
    const note = analysisMode === 'visual' ? ', as text, for this model cannot read images' : '';
    return [showText(`[Attached file: ${filename}${note}]`, text, reader.room)];
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const text = `[Attached file: ${filename} (${mediaType}); its content cannot be shown. ${error.message}]`;
    return [{ type: 'text', text }];
  }
}

async function readImage(
  { filename, mediaType }: MessageAttachment,
  bytes: Uint8Array,
  { vision }: Reader,
  signal: AbortSignal,
): Promise<InputPart[]> {
  if (!vision) {
    const text = `[Attached image: ${filename} (${mediaType}); left out, for this model cannot read images]`;
    return [{ type: 'text', text }];
  }
  return [{ type: 'text', text: `[Attached image: ${filename}]` }, showPicture(await prepareImage(bytes, signal))];
}

async function readPages(
  { filename, mediaType }: MessageAttachment,
  bytes: Uint8Array,
  { room }: Reader,
  signal: AbortSignal,
): Promise<InputPart[]> {
  const { pageCount, pictures } = await drawPdf(bytes, MAX_PICTURED_PAGES, signal);
  const head = `[Attached file: ${filename}, ${pageCount} page${pageCount === 1 ? '' : 's'}, as pictures]`;
  const parts: InputPart[] = [{ type: 'text', text: head }, ...pictures.map(showPicture)];
  if (pageCount <= pictures.length) return parts;
  const { text } = await convertDocument(bytes, mediaType, signal);
  const next = pictures.length + 1;
  const start = text.indexOf(`## Page ${next}\n`);
  const rest = start === -1 ? '[They have no text.]' : text.slice(start);
  return [...parts, showText(`[Pages ${next} to ${pageCount} of ${filename}, as text]`, rest, room)];
}

function showPicture({ mediaType, bytes }: Picture): InputPart {
  return { type: 'image', mediaType, data: Buffer.from(bytes).toString('base64') };
}

function showText(head: string, text: string, room: number): InputPart {
  if (text.length <= room) return { type: 'text', text: `${head}\n${text}` };
  const shown = text.slice(0, room).replace(/[\uD800-\uDBFF]$/, '');
  return { type: 'text', text: `${head}\n${shown}\n[${text.length - shown.length} more characters are left out.]` };
}
