import type { DocumentErrorCode } from './error.ts';

/** `text` is plain text, Markdown or CSV; `title` is what the document calls itself. */
export type DocumentText = { text: string; title: string | null };

/** An image as models take it: PNG, JPEG, WebP or GIF. */
export type Picture = { mediaType: string; bytes: Uint8Array; width: number; height: number };

/** The first pages of a PDF. */
export type PagePictures = { pageCount: number; pictures: Picture[] };

/** `charset` is what the server declared, `url` where the page came from: its links are relative to it. */
export type PageSource = {
  bytes: Uint8Array;
  mimeType: 'text/html' | 'text/plain' | 'application/json';
  charset: string | null;
  url: string | null;
};

/** What a thread is asked for; `mimeType` names one of the formats of `formats.ts`. */
export type DocumentJob =
  | { kind: 'text'; mimeType: string; bytes: Uint8Array }
  | { kind: 'pages'; bytes: Uint8Array; maxPages: number }
  | { kind: 'picture'; bytes: Uint8Array }
  | { kind: 'page'; page: PageSource; tree: boolean };

/** What each kind of job answers. */
export type DocumentResults = { text: DocumentText; pages: PagePictures; picture: Picture; page: DocumentText };

export type DocumentAnswer =
  | { ok: true; result: DocumentResults[keyof DocumentResults] }
  | { ok: false; code: DocumentErrorCode; message: string };
