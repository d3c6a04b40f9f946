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
  { findModel, hasFiles }: { findModel: () => ModelInfo | undefined; hasFiles: boolean },
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
        parts.push(
          ...(await readAttachment(attachment, bytes, { vision: model?.vision === true, room, hasFiles }, signal)),
        );
      }
      kept.set(eventId, parts);
      return parts;
    },
    async readText({ source, mediaType, filename }, signal) {
      try {
        const bytes = await readBytes(source.dataUrl, sessionId, objects);
        if (bytes === undefined) return { fault: `${filename} is no longer kept.` };
        if (mediaType.startsWith('image/')) return { fault: `${filename} is an image and has no text.` };
        if (!isDocumentType(mediaType)) return { text: decodeText(bytes, null, false) };
        return { text: (await convertDocument(bytes, mediaType, signal)).text };
      } catch (error) {
        if (error instanceof DocumentError) return { fault: `${filename} cannot be read. ${error.message}` };
        throw error;
      }
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

/** `hasFiles`: the model has the tool that reads the rest of a long text. */
type Reader = { vision: boolean; room: number; hasFiles: boolean };

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
      return [showText(`[Attached file: ${filename}]`, decodeText(bytes, null, false), { ...reader, filename })];
    if (analysisMode === 'visual' && reader.vision) return await readPages(attachment, bytes, reader, signal);
    const { text } = await convertDocument(bytes, mediaType, signal);
    const note = analysisMode === 'visual' ? ', as text, for this model cannot read images' : '';
    return [showText(`[Attached file: ${filename}${note}]`, text, { ...reader, filename })];
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
  reader: Reader,
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
  return [...parts, showText(`[Pages ${next} to ${pageCount} of ${filename}, as text]`, rest, { ...reader, filename })];
}

function showPicture({ mediaType, bytes }: Picture): InputPart {
  return { type: 'image', mediaType, data: Buffer.from(bytes).toString('base64') };
}

function showText(head: string, text: string, { room, hasFiles, filename }: Reader & { filename: string }): InputPart {
  if (text.length <= room) return { type: 'text', text: `${head}\n${text}` };
  const shown = text.slice(0, room).replace(/[\uD800-\uDBFF]$/, '');
  const line = shown.split('\n').length;
  const hint = hasFiles ? ` read_file reads on: path "attachment:${filename}", offset ${line}.` : '';
  const note = `[${text.length - shown.length} more characters are left out.${hint}]`;
  return { type: 'text', text: `${head}\n${shown}\n${note}` };
}
