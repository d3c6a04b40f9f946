import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildDocx, buildPdf, buildXlsx, paragraph } from '../../support/documents.ts';
import { openToolSession } from '../../support/tools.ts';

let session: Awaited<ReturnType<typeof openToolSession>>;
beforeAll(async () => {
  session = await openToolSession();
});
afterAll(() => session.close());

it.each([
  ['letter.docx', buildDocx([paragraph('Dear all'), paragraph('Bye')]), '1|Dear all\n2|\n3|Bye', 3],
  ['book.XLSX', buildXlsx({ Sales: [['North', 12]] }), '1|## Sheet: Sales\n2|\n3|North,12', 3],
  ['paper.pdf', buildPdf(['Abstract']), '1|Abstract', 1],
])('read_file shows %s as text', async (path, bytes, content, lines) => {
  await session.sandbox.writeFile(path, bytes);
  const { isError, value } = await session.call('read_file', { path });
  expect(isError).toBe(false);
  expect(value).toMatchObject({ content, total_lines: lines, extracted_document: true, file_size: bytes.length });
});

it('read_file reads a document by page', async () => {
  await session.sandbox.writeFile('long.docx', buildDocx(Array.from({ length: 20 }, (_, at) => paragraph(`p${at}`))));
  const { value } = await session.call('read_file', { path: 'long.docx', offset: 5, limit: 1 });
  expect(value).toMatchObject({ content: '5|p2', truncated: true, total_lines: 39 });
});

it('read_file reports the problem of a document', async () => {
  await session.write('broken.docx', 'no archive');
  const { isError, value } = await session.call('read_file', { path: 'broken.docx' });
  expect([isError, value['error']]).toEqual([true, 'The document is damaged: it is no readable archive.']);
});

it('read_file does not repeat a document that it has shown', async () => {
  await session.sandbox.writeFile('twice.pdf', buildPdf(['once']));
  await session.call('read_file', { path: 'twice.pdf' });
  expect((await session.call('read_file', { path: 'twice.pdf' })).value).toMatchObject({ status: 'unchanged' });
  expect((await session.call('read_file', { path: 'twice.pdf' })).text).toContain('BLOCKED');
});
