import readXlsxFile from 'read-excel-file/node';
import { findTitle, joinParts, readParts } from './archive.ts';
import { DocumentError } from './error.ts';
import type { DocumentText } from './job.ts';
import { MAX_TEXT_CHARACTERS } from './limits.ts';

/** Each sheet as CSV under a heading with its name; formulas by their last value. */
export async function readXlsx(bytes: Uint8Array): Promise<DocumentText> {
  const parts = readParts(bytes, (name) => /\.(?:xml|rels)$/i.test(name));
  let sheets: { sheet: string; data: readonly (readonly unknown[])[] }[];
  try {
    sheets = await readXlsxFile(Buffer.from(joinParts(parts)));
  } catch (cause) {
    throw new DocumentError('broken', 'The workbook is damaged, or no Excel workbook.', { cause });
  }
  return { text: sheets.map(renderSheet).join('\n\n'), title: findTitle(parts) };
}

function renderSheet({ sheet, data }: { sheet: string; data: readonly (readonly unknown[])[] }): string {
  const lines = [`## Sheet: ${sheet}`, ''];
  let characters = 0;
  for (const row of data) {
    const line = row.map(renderCell).join(',');
    characters += line.length + 1;
    if (characters > MAX_TEXT_CHARACTERS) break;
    lines.push(line);
  }
  if (data.length === 0) lines.push('[empty]');
  return lines.join('\n');
}

function renderCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$|\.000Z$/, '');
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
