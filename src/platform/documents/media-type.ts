/**
 * The media type that the first bytes of a file show; undefined: they show none. Text has none.
 * The library is loaded on first use, because it adds noticeably to the start of a role.
 */
export async function detectMediaType(head: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  // It rejects a file that ends before the length in its signature.
  return (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
}

/** Whether files of a type can be recognized by their first bytes. */
export async function hasSignature(mediaType: string): Promise<boolean> {
  const { supportedMimeTypes } = await import('file-type');
  return supportedMimeTypes.has(mediaType);
}
