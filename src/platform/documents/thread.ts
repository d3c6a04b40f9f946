import { parentPort } from 'node:worker_threads';
import { DocumentError } from './error.ts';
import { DOCUMENT_TYPES } from './formats.ts';
import type { DocumentAnswer, DocumentJob, DocumentResults, DocumentText } from './job.ts';
import { MAX_TEXT_CHARACTERS } from './limits.ts';

/** Entry of a thread: one document after another, each answered by one message. */
parentPort?.on('message', (job: DocumentJob) => {
  void answer(job).then((message) => parentPort?.postMessage(message));
});

async function answer(job: DocumentJob): Promise<DocumentAnswer> {
  try {
    return { ok: true, result: await run(job) };
  } catch (error) {
    if (error instanceof DocumentError) return { ok: false, code: error.code, message: error.message };
    return { ok: false, code: 'broken', message: 'The document cannot be read.' };
  }
}

// What does it is loaded when it is first needed: each brings a library.
async function run(job: DocumentJob): Promise<DocumentResults[keyof DocumentResults]> {
  switch (job.kind) {
    case 'text':
      return cutText(await read(job.mimeType, job.bytes));
    case 'pages':
      return (await import('./pages.ts')).drawPages(job.bytes, job.maxPages);
    case 'picture':
      return (await import('./picture.ts')).preparePicture(job.bytes);
    case 'page':
      return cutText((await import('./page.ts')).readPage(job.page, job.tree));
  }
}

async function read(mimeType: string, bytes: Uint8Array): Promise<DocumentText> {
  switch (mimeType) {
    case DOCUMENT_TYPES.pdf:
      return (await import('./pdf.ts')).readPdf(bytes);
    case DOCUMENT_TYPES.docx:
      return (await import('./docx.ts')).readDocx(bytes);
    case DOCUMENT_TYPES.xlsx:
      return (await import('./xlsx.ts')).readXlsx(bytes);
    default:
      throw new DocumentError('unsupported', `Documents of the type ${mimeType} cannot be read.`);
  }
}

function cutText({ text, title }: DocumentText): DocumentText {
  if (text.length <= MAX_TEXT_CHARACTERS) return { text, title };
  const left = text.length - MAX_TEXT_CHARACTERS;
  return { text: `${text.slice(0, MAX_TEXT_CHARACTERS)}\n[${left} more characters are left out.]`, title };
}
