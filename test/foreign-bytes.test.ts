import { expect, test } from 'vitest';
import { readCallResult, readPlain, readResource } from '../src/agents/mcp/results.ts';
import { parseSchedule } from '../src/agents/automations/schedule.ts';
import { findBodyType } from '../src/agents/web/content-type.ts';
import { readForm } from '../src/gateway/endpoints/form.ts';
import { GatewayError } from '../src/gateway/gateway-error.ts';
import { ModelError } from '../src/inference/model.ts';
import { buildEventReader } from '../src/inference/sse.ts';
import type { SseEvent } from '../src/inference/upstream/dialect.ts';
import { readHelpToken, signHelpToken } from '../src/login/help/token.ts';
import { readEmail } from '../src/login/mailbox/email.ts';
import { OidcConfig } from '../src/platform/contract/oidc.ts';
import { readParts } from '../src/platform/documents/archive.ts';
import { decodeText } from '../src/platform/documents/charset.ts';
import { convertDocument } from '../src/platform/documents/convert.ts';
import { DocumentError } from '../src/platform/documents/error.ts';
import { DOCUMENT_TYPES } from '../src/platform/documents/formats.ts';
import { readHtmlText } from '../src/platform/documents/html-text.ts';
import { MAX_INFLATED_BYTES } from '../src/platform/documents/limits.ts';
import { isPublic, parseAddress } from '../src/platform/egress/addresses.ts';
import { CapstanError } from '../src/platform/errors.ts';
import { readIdentity } from '../src/platform/http/oidc/claims.ts';
import { decideRange } from '../src/platform/http/range.ts';
import { buildMasterKeys } from '../src/platform/master-key.ts';
import { readResult } from '../src/sandbox/executor/answers.ts';
import type { ExecutorOperation } from '../src/sandbox/protocol/executor.ts';
import { SandboxError } from '../src/sandbox/sandbox.ts';
import { CORPUS } from './support/corpus.ts';
import { buildDocx, buildPdf, buildXlsx, paragraph } from './support/documents.ts';
import { chunk, damage } from './support/foreign-bytes.ts';
import { fc } from './support/property.ts';

/*
 * Every parser of bytes from outside takes any bytes: it ends, with a result of its shape or an error of its own kind, never
 * with another. What has failed once is in the corpus.
 */

type Kind = abstract new (...args: never[]) => Error;

/** Whatever it throws has to be of the kind. */
async function allow(kind: Kind, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof kind)) throw error;
  }
}

/** Tries damaged bytes, and first what the corpus has of this name. */
const check = (name: string, arbitrary: fc.Arbitrary<Buffer>, run: (bytes: Buffer) => unknown, numRuns = 300) =>
  fc.assert(
    fc.asyncProperty(arbitrary, async (bytes) => void (await run(bytes))),
    { numRuns, examples: (CORPUS[name] ?? []).map((text): [Buffer] => [Buffer.from(text, 'base64')]) },
  );

const STREAM = Buffer.from(
  ': hi\r\n\r\nevent: message\ndata: {"text":"é日本"}\ndata: two\nid: 7\n\ndata: [DONE]\r\rretry: 5\n\ndata: last',
);

test('an event stream is the same however it is cut', async () => {
  const read = (chunks: Buffer[]): SseEvent[] => {
    const [reader, out] = [buildEventReader(), [] as SseEvent[]];
    for (const part of chunks) reader.push(part, out);
    reader.end(out);
    return out.map(({ event, data }) => ({ event, data }));
  };
  const cuts = fc.array(fc.nat(10_000), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(damage(STREAM, Buffer.from('{"object":"reply","text":"é"}')), cuts, async (bytes, places) => {
      await allow(ModelError, () => {
        const whole = read([bytes]);
        expect(read(chunk(bytes, places))).toEqual(whole);
      });
    }),
    { numRuns: 500 },
  );
});

const FORM = Buffer.from(
  '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper\r\n--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\nRIFF\0\xff\r\n--x--\r\n',
  'latin1',
);

test('a form', async () => {
  await expect(
    check('form', damage(FORM), (bytes) =>
      allow(GatewayError, () => readForm(bytes, 'multipart/form-data; boundary=x')),
    ),
  ).resolves.toBeUndefined();
});

test('the content type of a form', async () => {
  await expect(
    fc.assert(
      fc.asyncProperty(fc.string(), (type) =>
        allow(GatewayError, () => readForm(FORM, `multipart/form-data; ${type}`)),
      ),
    ),
  ).resolves.toBeUndefined();
});

const MAIL = Buffer.from(
  'From: A <a@shop.example>\r\nTo: =?utf-8?B?w6k=?= <me@x.example>, group: b@x.example;\r\nSubject: =?iso-8859-1?Q?Code_=E9?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nYour code is 123456 =C3=A9\r\n--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPGEgaHJlZj0iaHR0cHM6Ly9zaG9wLmV4YW1wbGUvYyI+eDwvYT4=\r\n--b--\r\n',
);

test('an email', async () => {
  await expect(
    check('email', damage(MAIL), async (bytes) => {
      const { to, from, subject, text, links } = await readEmail(bytes);
      for (const value of [from, subject, text, ...to, ...links]) expect(value).toBeTypeOf('string');
    }),
  ).resolves.toBeUndefined();
});

const docx = buildDocx([paragraph('Hello')]);
const xlsx = buildXlsx({ One: [['a', 1]] });

test('the parts of an archive', async () => {
  await expect(
    check('archive', damage(docx, xlsx), (bytes) =>
      allow(DocumentError, () => {
        const parts = Object.values(readParts(bytes, () => true));
        expect(parts.reduce((sum, part) => sum + part.length, 0)).toBeLessThanOrEqual(MAX_INFLATED_BYTES);
      }),
    ),
  ).resolves.toBeUndefined();
});

test.each([
  ['docx', docx],
  ['xlsx', xlsx],
  ['pdf', buildPdf(['one', 'two'], { title: 'Foxes' })],
] as const)('a document: %s', async (name, valid) => {
  await expect(
    check(name, damage(valid), (bytes) => allow(DocumentError, () => convertDocument(bytes, DOCUMENT_TYPES[name])), 15),
  ).resolves.toBeUndefined();
});

test('the kind, the encoding and the words of a page', async () => {
  await expect(
    fc.assert(
      fc.asyncProperty(
        damage(
          Buffer.from('<!doctype html><meta charset=utf-16><title>é</title><p>a<select><b>'),
          Buffer.from(docx),
          STREAM,
        ),
        fc.option(fc.oneof(fc.string(), fc.constantFrom('text/html; charset=utf-7', 'replacement', 'text/plain')), {
          nil: null,
        }),
        async (bytes, declared) => {
          expect(['document', 'page', 'other']).toContain((await findBodyType(bytes, declared)).kind);
          expect(readHtmlText(decodeText(bytes, declared, true)).text).toBeTypeOf('string');
        },
      ),
      { numRuns: 300 },
    ),
  ).resolves.toBeUndefined();
});

const json = fc.jsonValue({ maxDepth: 4 });
const block = fc.record(
  {
    type: fc.oneof(fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'other'), json),
    text: json,
    data: json,
    mimeType: fc.oneof(fc.constant('image/png'), json),
    resource: json,
  },
  { requiredKeys: [] },
);
const answer = fc.oneof(
  json,
  fc.record(
    {
      content: fc.oneof(fc.array(fc.oneof(block, json)), json),
      structuredContent: json,
      isError: json,
      contents: json,
    },
    { requiredKeys: [] },
  ),
);

test('the answer of an MCP server', () => {
  fc.assert(
    fc.property(answer, (value) => {
      for (const read of [readCallResult, readResource, readPlain]) expect(read(value).content).toBeTypeOf('string');
    }),
    { numRuns: 1000 },
  );
});

const OPERATIONS: ExecutorOperation[] = [
  ...([
    'run',
    'runScript',
    'answerScript',
    'stat',
    'list',
    'remove',
    'move',
    'copy',
    'makeDirectory',
    'describe',
  ] as const),
  ...(['page', 'find', 'usage', 'search', 'startProcess', 'listProcesses', 'processOutput', 'waitProcess'] as const),
  ...(['killProcess', 'writeProcess', 'closeProcessInput', 'hasCall', 'saveState', 'restoreState'] as const),
];

test('the result of an executor', async () => {
  await expect(
    fc.assert(
      fc.asyncProperty(fc.constantFrom(...OPERATIONS), json, (operation, value) =>
        allow(SandboxError, () => readResult(operation, value)),
      ),
      { numRuns: 1000 },
    ),
  ).resolves.toBeUndefined();
});

test('a range of bytes stays within the file', () => {
  const number = fc.oneof(fc.nat().map(String), fc.constantFrom('', '999999999999999', '0'));
  const header = fc.oneof(
    fc.string(),
    fc.tuple(number, number).map(([first, last]) => `bytes=${first}-${last}`),
  );
  fc.assert(
    fc.property(header, fc.nat(), (text, size) => {
      const range = decideRange(text, size);
      if (range === undefined || range === 'unsatisfiable') return;
      expect(range.offset >= 0 && range.length > 0 && range.offset + range.length <= size).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('an address is read as it is written, and never throws', () => {
  const written = fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), fc.string(), fc.domain());
  fc.assert(
    fc.property(written, (text) => {
      const address = parseAddress(text);
      if (address === undefined) return;
      const again = parseAddress(address.toString());
      expect(again && isPublic(again)).toBe(isPublic(address));
    }),
    { numRuns: 1000 },
  );
});

test('the claims of an identity provider', async () => {
  const config = OidcConfig.parse({ issuer: 'https://id.example', clientId: 'capstan', organizationClaim: 'org' });
  const claims = fc.dictionary(fc.constantFrom('sub', 'email', 'email_verified', 'name', 'groups', 'org'), json);
  await expect(
    fc.assert(
      fc.asyncProperty(claims, (value) => allow(CapstanError, () => readIdentity(config, value))),
      { numRuns: 500 },
    ),
  ).resolves.toBeUndefined();
});

test('the token of a help page that was changed is none', () => {
  const keys = buildMasterKeys(Buffer.alloc(32, 1).toString('base64'));
  const grant = { organizationId: 'org_1', loginId: 'lgn_1', expiresAt: new Date(2_000_000_000_000) };
  const valid = signHelpToken(keys, grant);
  expect(readHelpToken(keys, valid, 0)).toEqual(grant);
  return check(
    'help token',
    damage(Buffer.from(valid)),
    (bytes) => {
      const text = bytes.toString('latin1');
      const isValid = text.split('.').slice(0, 2).join('.') === valid;
      expect(readHelpToken(keys, text, 0)).toEqual(isValid ? grant : undefined);
    },
    1000,
  );
});

test('a schedule in any time zone', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.constantFrom('2030-02-30', '2030-03-31T02:30', '0 0 30 2 *', '*/0 * * * *', '99999999d'),
      ),
      fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'UTC'),
      (source, timezone) => {
        expect(typeof (parseSchedule(source, timezone)?.text ?? '')).toBe('string');
      },
    ),
    { numRuns: 1000 },
  );
});
