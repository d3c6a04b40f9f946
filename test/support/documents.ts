import { strToU8, zipSync } from 'fflate';

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const CONTENT_TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const SHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const FORMAT = 'application/vnd.openxmlformats-officedocument';

function zipParts(parts: Record<string, string>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(HEAD + text)])));
}

function writeTypes(overrides: readonly [part: string, type: string][]): string {
  const lines = overrides.map(([part, type]) => `<Override PartName="${part}" ContentType="${FORMAT}.${type}+xml"/>`);
  return `<Types xmlns="${CONTENT_TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${lines.join('')}</Types>`;
}

function writeRelations(targets: readonly [type: string, target: string][]): string {
  const lines = targets.map(
    ([type, target], index) => `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${RELATIONS}">${lines.join('')}</Relationships>`;
}

function writeProperties(title: string): string {
  return `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title></cp:coreProperties>`;
}

/** A Word paragraph. */
export function paragraph(text: string): string {
  return `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
}

/** A Word table, row by row. */
export function table(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`;
  return `<w:tbl>${rows.map((row) => `<w:tr>${row.map(cell).join('')}</w:tr>`).join('')}</w:tbl>`;
}

/** A Word document; `body` is what `paragraph` and `table` give. */
export function buildDocx(body: readonly string[], title = ''): Uint8Array {
  return zipParts({
    '[Content_Types].xml': writeTypes([['/word/document.xml', 'wordprocessingml.document.main']]),
    '_rels/.rels': writeRelations([['officeDocument', 'word/document.xml']]),
    'docProps/core.xml': writeProperties(title),
    'word/document.xml': `<w:document xmlns:w="${WORD}"><w:body>${body.join('')}</w:body></w:document>`,
  });
}

/** An Excel workbook: text and numbers by sheet and row. */
export function buildXlsx(sheets: Record<string, readonly (readonly (string | number)[])[]>, title = ''): Uint8Array {
  const names = Object.keys(sheets);
  const cell = (value: string | number, row: number, column: number) => {
    const place = `r="${String.fromCodePoint(65 + column)}${row + 1}"`;
    return typeof value === 'number'
      ? `<c ${place}><v>${value}</v></c>`
      : `<c ${place} t="inlineStr"><is><t>${value}</t></is></c>`;
  };
  const rows = (data: readonly (readonly (string | number)[])[]) =>
    data.map((row, y) => `<row r="${y + 1}">${row.map((value, x) => cell(value, y, x)).join('')}</row>`).join('');
  return zipParts({
    '[Content_Types].xml': writeTypes([
      ['/xl/workbook.xml', 'spreadsheetml.sheet.main'],
      ...names.map((_, index): [string, string] => [`/xl/worksheets/sheet${index + 1}.xml`, 'spreadsheetml.worksheet']),
    ]),
    '_rels/.rels': writeRelations([['officeDocument', 'xl/workbook.xml']]),
    'docProps/core.xml': writeProperties(title),
    'xl/_rels/workbook.xml.rels': writeRelations(
      names.map((_, index): [string, string] => ['worksheet', `worksheets/sheet${index + 1}.xml`]),
    ),
    'xl/workbook.xml': `<workbook xmlns="${SHEET}" xmlns:r="${OFFICE}"><sheets>${names
      .map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
      .join('')}</sheets></workbook>`,
    ...Object.fromEntries(
      Object.values(sheets).map((data, index) => [
        `xl/worksheets/sheet${index + 1}.xml`,
        `<worksheet xmlns="${SHEET}"><sheetData>${rows(data)}</sheetData></worksheet>`,
      ]),
    ),
  });
}

export type PdfOptions = {
  title?: string;
  trailer?: string;
  streams?: readonly (Buffer | undefined)[];
  filter?: string;
};

/** A PDF with one line of text on each page. `streams` replaces the content of pages, encoded by `filter`. */
export function buildPdf(
  pages: readonly string[],
  { title, trailer = '', streams, filter }: PdfOptions = {},
): Uint8Array {
  const objects: Buffer[] = [];
  const text = (value: string) => objects.push(Buffer.from(value, 'latin1'));
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  text('<< /Type /Catalog /Pages 2 0 R >>');
  text(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  text('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  pages.forEach((line, index) => {
    const own = streams?.[index];
    const stream = own ?? Buffer.from(line === '' ? '' : `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`, 'latin1');
    const decode = own === undefined || filter === undefined ? '' : ` /Filter /${filter}`;
    text(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
    );
    objects.push(
      Buffer.concat([
        Buffer.from(`<< /Length ${stream.length}${decode} >>\nstream\n`, 'latin1'),
        stream,
        Buffer.from('\nendstream', 'latin1'),
      ]),
    );
  });
  const info = title === undefined ? '' : ` /Info ${objects.length + 1} 0 R`;
  if (title !== undefined) text(`<< /Title (${title}) >>`);
  const chunks = [Buffer.from('%PDF-1.7\n', 'latin1')];
  let size = chunks[0]?.length ?? 0;
  const offsets = objects.map((object, index) => {
    const offset = size;
    const chunk = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    chunks.push(chunk);
    size += chunk.length;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  chunks.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R${info}${trailer} >>\nstartxref\n${size}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(chunks);
}
