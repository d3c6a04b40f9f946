import type { MessageAttachment } from '../../contract/attachments.ts';
import type { LogEvent } from '../../log/event.ts';
import type { InputPart } from '../../../inference/model.ts';
import { findPrompt } from '../../log/read.ts';

/** What the model reads of the attachments of messages, by the id of the message's event. */
export type ShownAttachments = ReadonlyMap<string, InputPart[]>;

export type AttachmentPort = {
  /**
   * The same parts for the same attachments and model, whichever worker asks: what cannot be shown is said in words.
   */
  read(eventId: string, attachments: readonly MessageAttachment[], signal: AbortSignal): Promise<InputPart[]>;
  /** The whole text of one, however long; a fault is in words for the model. Throws only the signal's reason. */
  readText(attachment: MessageAttachment, signal: AbortSignal): Promise<{ text: string } | { fault: string }>;
};

/** Attachments belong to the turn that their message opened: these are shown, those of other turns are named. */
export async function showAttachments(
  log: readonly LogEvent[],
  turnId: string,
  port: AttachmentPort,
  signal: AbortSignal,
): Promise<ShownAttachments> {
  const { eventId, attachments } = findAttachments(log, turnId);
  return attachments.length === 0 ? new Map() : new Map([[eventId, await port.read(eventId, attachments, signal)]]);
}

/** The attachments of the message that opened a turn. */
function findAttachments(
  log: readonly LogEvent[],
  turnId: string,
): { eventId: string; attachments: readonly MessageAttachment[] } {
  const opener = log.find((event) => event.turnId === turnId && findPrompt(event) !== undefined);
  const prompt = opener && findPrompt(opener);
  const message = prompt?.kind === 'message' ? log.find((event) => event.id === prompt.eventId) : undefined;
  if (message?.type !== 'user.message') return { eventId: '', attachments: [] };
  return { eventId: message.id, attachments: message.payload.attachments ?? [] };
}

/** The text of an attachment of this turn, by its name. */
export async function readAttachedText(
  name: string,
  { log, turnId }: { log: readonly LogEvent[]; turnId: string },
  port: AttachmentPort,
  signal: AbortSignal,
): Promise<{ text: string } | { fault: string }> {
  const { attachments } = findAttachments(log, turnId);
  const found = attachments.find(({ filename }) => filename === name);
  if (found !== undefined) return await port.readText(found, signal);
  const names = attachments.map(({ filename }) => filename).join(', ');
  const hint = names === '' ? 'The message of this turn has none.' : `The message of this turn has: ${names}.`;
  return { fault: `There is no attachment named ${name}. ${hint}` };
}

/** The placeholder for an attachment after its turn. */
export function nameAttachment({ filename, mediaType }: MessageAttachment): InputPart {
  const advice = 'To read it again, ask the user to attach it again or to store it in the workspace';
  return {
    type: 'text',
    text: `[Attached file: ${filename} (${mediaType}); it was shown in its turn only. ${advice}]`,
  };
}
