import type { MessageAttachment } from '../../contract/attachments.ts';
import type { LogEvent } from '../../log/event.ts';
import type { InputPart } from '../../../inference/model.ts';
import { findPrompt } from '../../log/read.ts';

/** What the model reads of the attachments of messages, by the id of the message's event. */
export type ShownAttachments = ReadonlyMap<string, InputPart[]>;

export type AttachmentPort = {
  /** The same parts for the same attachments and model, whichever worker asks: what cannot be shown is said in words. */
  read(eventId: string, attachments: readonly MessageAttachment[], signal: AbortSignal): Promise<InputPart[]>;
};

/** Attachments belong to the turn that their message opened: these are shown, those of other turns are named. */
export async function showAttachments(
  log: readonly LogEvent[],
  turnId: string,
  port: AttachmentPort,
  signal: AbortSignal,
): Promise<ShownAttachments> {
  const opener = log.find((event) => event.turnId === turnId && findPrompt(event) !== undefined);
  const prompt = opener && findPrompt(opener);
  const message = prompt?.kind === 'message' ? log.find((event) => event.id === prompt.eventId) : undefined;
  if (message?.type !== 'user.message') return new Map();
  const { attachments = [] } = message.payload;
  return attachments.length === 0
    ? new Map()
    : new Map([[message.id, await port.read(message.id, attachments, signal)]]);
}

/** What is left of an attachment when its turn is over. */
export function nameAttachment({ filename, mediaType }: MessageAttachment): InputPart {
  return { type: 'text', text: `[Attached file: ${filename} (${mediaType}); it was shown in the turn it came with]` };
}
