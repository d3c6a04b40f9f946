import type { DocumentFault } from './error.ts';

/** What a thread is asked for. `mimeType` names one of the formats of `formats.ts`. */
export type DocumentJob = { mimeType: string; bytes: Uint8Array };

/** `text` is plain text, Markdown or CSV; `title` is what the document calls itself. */
export type DocumentText = { text: string; title: string | null };

export type DocumentAnswer = { ok: true; result: DocumentText } | { ok: false; fault: DocumentFault; message: string };
