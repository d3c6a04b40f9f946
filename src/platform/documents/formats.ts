/** The formats that can be turned into text, by MIME type. Each file is loaded by the thread that first needs it. */
export const DOCUMENT_TYPES = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;

export function isDocumentType(mimeType: string): boolean {
  return Object.values<string>(DOCUMENT_TYPES).includes(mimeType);
}
