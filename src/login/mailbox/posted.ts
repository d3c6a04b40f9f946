// Tests: test/login/inbound.test.ts
import { isRecord, parseJson } from '../../platform/records.ts';
import { buildEmail, readEmail } from './email.ts';
import type { Email } from './email.ts';

/** A message that was posted to a mailbox. */
export type PostedMessage = Email & { channel: 'email' | 'sms' };

/** Values of a body that are looked at, and how deep they may lie. */
const MAX_VALUES = 500;
const MAX_DEPTH = 5;
const MAX_VALUE = 1_000_000;
const HEADERS =
  /^(?:from|to|subject|date|received|return-path|delivered-to|mime-version|message-id|dkim-signature|arc-seal|content-type|x-[\w-]{1,60}):/i;

/** The first value of each name, whatever the body nests it in. Names are lower case. */
function collect(value: unknown, found: Map<string, string>, at: { name: string; depth: number }): void {
  if (found.size >= MAX_VALUES || at.depth > MAX_DEPTH) return;
  if (typeof value === 'string') {
    // Amazon's notifications carry JSON as text.
    const inner = value.startsWith('{') && value.length <= MAX_VALUE ? parseJson(value) : undefined;
    if (isRecord(inner)) return collect(inner, found, { ...at, depth: at.depth + 1 });
    if (value !== '' && !found.has(at.name)) found.set(at.name, value);
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, 20)) collect(item, found, { ...at, depth: at.depth + 1 });
  } else if (isRecord(value)) {
    // Values come before what they are nested in: `from` of the message, not of an attachment.
    const entries = Object.entries(value).toSorted(
      ([, left], [, right]) => Number(typeof left === 'object') - Number(typeof right === 'object'),
    );
    for (const [name, item] of entries) {
      const isAddress = ['email', 'address', 'phone_number', 'number'].includes(name.toLowerCase()) && at.depth > 0;
      collect(item, found, { name: isAddress ? at.name : name.toLowerCase(), depth: at.depth + 1 });
    }
  }
}

/** Texts of a form with files; of the files those that are messages. Empty for a malformed form. */
async function listParts(type: string, body: Uint8Array): Promise<[name: string, text: string][]> {
  const { Busboy } = await import('@fastify/busboy');
  const texts: [name: string, text: string][] = [];
  return new Promise((resolve) => {
    try {
      const parser = new Busboy({
        headers: { 'content-type': type },
        limits: { parts: MAX_VALUES, fieldSize: body.length },
        // Nobody listens for files, so they are skipped.
        isPartAFile: (_name, partType = '', fileName) => fileName !== undefined && !/^message\//i.test(partType),
      });
      // A part may lack a name, whatever the library's types say.
      parser.on('field', (name: string | undefined, value) => {
        if (name !== undefined) texts.push([name, value]);
      });
      parser.once('finish', () => resolve(texts));
      // There may be several; one that nobody listens for would end the process.
      parser.on('error', () => resolve([]));
      parser.end(body);
    } catch {
      resolve([]);
    }
  });
}

/** The fields of a body: JSON, a form, or a form with files. Undefined for a raw message. */
async function readFields(type: string, body: Uint8Array): Promise<Map<string, string> | undefined> {
  const found = new Map<string, string>();
  const isForm = /^application\/x-www-form-urlencoded/i.test(type);
  if (isForm || /^multipart\/form-data/i.test(type)) {
    const parts = isForm ? new URLSearchParams(Buffer.from(body).toString()) : await listParts(type, body);
    for (const [name, text] of parts) collect(text, found, { name: name.toLowerCase(), depth: 0 });
    return found;
  }
  const text = Buffer.from(body).toString();
  const json = /json|^text\/plain/i.test(type) ? parseJson(text) : undefined;
  if (json === undefined || json === null || typeof json !== 'object') return undefined;
  collect(json, found, { name: '', depth: 0 });
  return found;
}

const RAW = ['email', 'body-mime', 'raw', 'mime', 'rawemail', 'content', 'message'];
const TEXT = ['textbody', 'body-plain', 'plain', 'text', 'stripped-text'];
/** Names of other things in emails. */
const BARE_TEXT = ['body', 'message', 'content'];
const HTML = ['htmlbody', 'body-html', 'html'];
const FROM = ['from', 'sender', 'originator', 'msisdn', 'fromnumber'];
const TO = ['to', 'recipient', 'originalrecipient', 'recipients'];

/** A raw message among the fields, as it is or in base64. */
function findRaw(fields: Map<string, string>): string | undefined {
  for (const name of RAW) {
    const value = fields.get(name)?.trimStart() ?? '';
    if (HEADERS.test(value)) return value;
    const decoded = /^[\w+/=\s-]{40}/.test(value) ? Buffer.from(value, 'base64').toString() : '';
    if (HEADERS.test(decoded)) return decoded;
  }
  return undefined;
}

/**
 * Reads what a provider of email or text messages posts, or a raw message. What has neither subject nor HTML and comes
 * from no email address is a text message. Undefined where there is no message in it.
 */
export async function readPosted(type: string, body: Uint8Array): Promise<PostedMessage | undefined> {
  const fields = await readFields(type, body);
  const raw = fields === undefined ? Buffer.from(body).toString() : findRaw(fields);
  if (raw === undefined) return fields && readParsed(fields);
  if (!HEADERS.test(raw.trimStart())) return undefined;
  return { ...(await readEmail(Buffer.from(raw.trimStart()))), channel: 'email' };
}

/** A message that the provider has taken apart. */
async function readParsed(fields: Map<string, string>): Promise<PostedMessage | undefined> {
  const find = (names: readonly string[]) => names.map((name) => fields.get(name)).find((value) => value !== undefined);
  const [html, subject] = [find(HTML), find(['subject'])];
  const text = find(html === undefined ? [...TEXT, ...BARE_TEXT] : TEXT);
  if (text === undefined && html === undefined && subject === undefined) return undefined;
  const [from = '', to = ''] = [find(FROM), find(TO)];
  const isEmail = html !== undefined || subject !== undefined || from.includes('@');
  const email = await buildEmail({ from, to: [to], subject: subject ?? '', text: text ?? '', html: html ?? '' });
  return { ...email, channel: isEmail ? 'email' : 'sms' };
}
