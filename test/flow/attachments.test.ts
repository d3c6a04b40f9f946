import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireFormat } from '../../src/contract/config.ts';
import { prompt } from '../support/chat.ts';
import { say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const attach = (filename: string, mediaType: string, data: string) => ({
  type: 'file',
  filename,
  mediaType,
  source: { type: 'data_url', dataUrl: `data:${mediaType};base64,${data}` },
});

const images: Record<WireFormat, object> = {
  'chat-completions': { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
  messages: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
  responses: { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
};

describe.each(Object.keys(images) as WireFormat[])('attachments over %s', (format) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ format });
  });
  afterAll(() => service.close());

  it('an image reaches the model as an image, a text as text, and both stand in the log', async () => {
    service.model.play(say('seen'), say('still there'));
    const chat = await service.api.openChat();
    const attachments = [
      attach('dot.png', 'image/png', PNG),
      attach('table.csv', 'text/csv', Buffer.from('a,b\n1,2').toString('base64')),
    ];
    await chat.send(prompt('Look.', { attachments, metadata: { secretNumber: 424_242 } }));
    await chat.next('session.status_idle');
    await chat.run('And now?');
    for (const { body } of service.model.requests) {
      const text = JSON.stringify(body);
      expect(body).toSatisfy(() => findObject(body, images[format]));
      expect(text).toContain(String.raw`[Attached file: table.csv]\na,b\n1,2`);
      expect(text).not.toContain('424242');
    }
    const [message] = await chat.list();
    expect(message?.payload).toMatchObject({
      content: [{ type: 'text', text: 'Look.' }],
      attachments,
      metadata: { secretNumber: 424_242 },
    });
    chat.close();
  });
});

/** Whether some part of `value` has all fields of `wanted`. */
function findObject(value: unknown, wanted: object): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  const fits = Object.entries(wanted).every(([name, field]) =>
    typeof field === 'object' && field !== null ? findObject(fields[name], field) : fields[name] === field,
  );
  return fits || Object.values(fields).some((inner) => findObject(inner, wanted));
}
