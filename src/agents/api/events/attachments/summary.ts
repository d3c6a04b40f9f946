import { dataUrlBytes } from '../../../contract/attachments.ts';
import type { AttachmentSummary, MessageAttachment } from '../../../contract/attachments.ts';
import type { EventEnvelope } from '../../../contract/events.ts';

/** The attachments of a message; none of any other event. */
export function listAttachments({ type, payload }: EventEnvelope): MessageAttachment[] {
  const { attachments } = payload;
  return type === 'user.message' && Array.isArray(attachments) ? (attachments as MessageAttachment[]) : [];
}

/** Replaces the bytes of attachments by their metadata and links. */
export function omitAttachments(event: EventEnvelope): EventEnvelope {
  const found = listAttachments(event);
  if (found.length === 0) return event;
  const attachments = found.map(({ source, ...attachment }, index): AttachmentSummary => ({
    ...attachment,
    sizeBytes: attachment.sizeBytes ?? dataUrlBytes(source.dataUrl) ?? 0,
    href: `/v1/sessions/${event.sessionId}/events/${event.id}/attachments/${index}`,
  }));
  return { ...event, payload: { ...event.payload, attachments } };
}
