import { deflateSync } from 'node:zlib';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { convertDocument } from '../../../src/platform/documents/convert.ts';
import { DOCUMENT_TYPES } from '../../../src/platform/documents/formats.ts';
import { MAX_DOCUMENT_BYTES, MAX_PAGES } from '../../../src/platform/documents/limits.ts';
import { buildDocx, buildPdf, buildXlsx, paragraph, table } from '../../support/documents.ts';

const { pdf, docx, xlsx } = DOCUMENT_TYPES;
/** On a slow machine the time limit may come first. */
const LIMITED: unknown = expect.stringMatching(/^(?:too_large|timeout)$/);

/** Changes the entry for its only part in the archive's directory. */
function claimSize(archive: Uint8Array, size: number): Uint8Array {
  const bytes = Buffer.from(archive);
  bytes.writeUInt32LE(size, bytes.indexOf(Buffer.from([0x50, 0x4b, 1, 2])) + 24);
  return bytes;
}

describe('PDF', () => {
  it('gives the text of a page, and the title', async () => {
    const bytes = buildPdf(['The quick brown fox'], { title: 'Foxes' });
    expect(await convertDocument(bytes, pdf)).toEqual({ text: 'The quick brown fox', title: 'Foxes' });
  });

  it('marks where each page begins', async () => {
    const { text, title } = await convertDocument(buildPdf(['one', '', 'three']), pdf);
    expect(text).toBe('## Page 1\n\none\n\n## Page 2\n\n## Page 3\n\nthree');
    expect(title).toBeNull();
  });

  it('says that pages without text may be pictures', async () => {
    const { text } = await convertDocument(buildPdf(['', '']), pdf);
    expect(text).toBe('[The PDF has 2 pages and no text: pages may be scanned pictures.]');
  });

  it('leaves out pages past the limit and says so', async () => {
    const { text } = await convertDocument(buildPdf(Array.from({ length: MAX_PAGES + 2 }, () => 'p')), pdf);
    expect(text).toContain(`## Page ${MAX_PAGES}\n`);
    expect(text).toMatch(/\[Pages 1001 to 1002 are left out\.\]$/);
  });

  it('refuses an encrypted one', async () => {
    const trailer = ` /Encrypt << /Filter /Standard /V 1 /R 2 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> /P -4 >> /ID [<00><00>]`;
    await expect(convertDocument(buildPdf(['secret'], { trailer }), pdf)).rejects.toMatchObject({ code: 'encrypted' });
  });

  it('refuses one that would fill the memory', async () => {
    const bomb = deflateSync(Buffer.alloc(1_500_000_000, ' '), { level: 1 });
    const bytes = buildPdf(['x'], { streams: [bomb], filter: 'FlateDecode' });
    await expect(convertDocument(bytes, pdf)).rejects.toMatchObject({ code: LIMITED });
    expect((await convertDocument(buildPdf(['still here']), pdf)).text).toBe('still here');
  }, 120_000);
});

describe('DOCX', () => {
  it('gives Markdown with tables, and the title', async () => {
    const bytes = buildDocx(
      [
        paragraph('Before'),
        table([
          ['Item', 'Price'],
          ['A|B', '1'],
        ]),
        paragraph('After'),
      ],
      'A &amp; B',
    );
    expect(await convertDocument(bytes, docx)).toEqual({
      text: 'Before\n\n| Item | Price |\n| --- | --- |\n| A\\|B | 1 |\n\nAfter',
      title: 'A & B',
    });
  });

  it('refuses another kind of archive', async () => {
    await expect(convertDocument(buildXlsx({ a: [['1']] }), docx)).rejects.toMatchObject({ code: 'broken' });
  });
});

describe('XLSX', () => {
  it('gives each sheet as CSV', async () => {
    const bytes = buildXlsx(
      {
        Sales: [
          ['region', 'sum'],
          ['North, East', 12.5],
        ],
        Empty: [],
      },
      'Book',
    );
    expect(await convertDocument(bytes, xlsx)).toEqual({
      text: '## Sheet: Sales\n\nregion,sum\n"North, East",12.5\n\n## Sheet: Empty\n\n[empty]',
      title: 'Book',
    });
  });
});

describe('any document', () => {
  it.each([pdf, docx, xlsx])('refuses a damaged one: %s', async (type) => {
    const whole = { [pdf]: buildPdf(['x']), [docx]: buildDocx([paragraph('x')]), [xlsx]: buildXlsx({ a: [['x']] }) };
    const bytes = type === pdf ? Buffer.from('%PDF-1.7\nnothing') : (whole[type]?.subarray(0, 200) ?? new Uint8Array());
    await expect(convertDocument(bytes, type)).rejects.toMatchObject({ code: 'broken' });
  });

  it.each([docx, xlsx])('refuses a small archive that unpacks to too much: %s', async (type) => {
    const bytes = claimSize(zipSync({ 'word/document.xml': new Uint8Array(1000) }), 0x7f_ff_ff_ff);
    await expect(convertDocument(bytes, type)).rejects.toMatchObject({ code: 'too_large' });
  });

  it('inflates no part beyond the size that the directory gives', async () => {
    const bytes = claimSize(zipSync({ 'a.xml': new Uint8Array(1_000_000) }), 10);
    await expect(convertDocument(bytes, docx)).rejects.toMatchObject({ code: 'broken' });
  });

  it('refuses a workbook whose cells would fill the memory', async () => {
    const parts = unzipSync(buildXlsx({ a: [['x']] }));
    const far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>';
    const sheet = Buffer.from(parts['xl/worksheets/sheet1.xml'] ?? [])
      .toString('utf8')
      .replace('</sheetData>', far);
    const bytes = zipSync({ ...parts, 'xl/worksheets/sheet1.xml': strToU8(sheet) });
    await expect(convertDocument(bytes, xlsx)).rejects.toMatchObject({ code: LIMITED });
    expect((await convertDocument(buildXlsx({ a: [['x']] }), xlsx)).text).toContain('x');
  }, 120_000);

  it('refuses the format before Office Open XML, in which encrypted documents come', async () => {
    const bytes = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    await expect(convertDocument(bytes, docx)).rejects.toMatchObject({ code: 'encrypted' });
  });

  it('rejects other types and large files', async () => {
    await expect(convertDocument(new Uint8Array(), 'image/png')).rejects.toMatchObject({ code: 'unsupported' });
    await expect(convertDocument(new Uint8Array(MAX_DOCUMENT_BYTES + 1), pdf)).rejects.toMatchObject({
      code: 'too_large',
    });
  });

  it('stops when asked, also in line', async () => {
    const asked = new AbortController();
    const reason = new Error('no longer wanted');
    const many = Array.from({ length: 6 }, () =>
      convertDocument(buildPdf(Array.from({ length: 1000 }, () => 'slow')), pdf, asked.signal),
    );
    asked.abort(reason);
    for (const { status, reason: why } of (await Promise.allSettled(many)) as PromiseRejectedResult[]) {
      expect([status, why]).toEqual(['rejected', reason]);
    }
    expect((await convertDocument(buildPdf(['next']), pdf)).text).toBe('next');
  });

  it('reads many at once', async () => {
    const texts = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => (await convertDocument(buildPdf([`n${index}`]), pdf)).text),
    );
    expect(texts).toEqual(Array.from({ length: 12 }, (_, index) => `n${index}`));
  });
});
