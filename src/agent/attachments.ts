import { dataUrlMediaType } from '../contract/attachments.ts';
import type { MessageAttachment } from '../contract/attachments.ts';
import type { InputPart } from '../inference/model.ts';

/** An attachment as the model reads it: images as they are, text with its name, anything else by name. */
export function readAttachment(attachment: MessageAttachment): InputPart[] {
  const { filename, mediaType, source } = attachment;
  const data = source.dataUrl.slice(source.dataUrl.indexOf(',') + 1);
  if (mediaType.startsWith('image/')) {
    return [
      { type: 'text', text: `[Attached image: ${filename}]` },
      { type: 'image', mediaType: dataUrlMediaType(source.dataUrl) ?? mediaType, data },
    ];
  }
  if (mediaType.startsWith('text/') || mediaType === 'application/csv') {
    return [{ type: 'text', text: `[Attached file: ${filename}]\n${Buffer.from(data, 'base64').toString('utf8')}` }];
  }
  return [{ type: 'text', text: `[Attached file: ${filename} (${mediaType}); its content cannot be shown here]` }];
}
