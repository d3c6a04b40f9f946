/** Of the document as it comes. */
export const MAX_DOCUMENT_BYTES = 50 * 1024 * 1024;
/** Maximum length of the resulting text; the rest is omitted, and a last line says so. */
export const MAX_TEXT_CHARACTERS = 2_000_000;
/** Of a PDF; later pages are left out, and a last line says so. */
export const MAX_PAGES = 1000;
/** Of the parts of an archive that are read, inflated. */
export const MAX_INFLATED_BYTES = 200 * 1024 * 1024;
/** Of the V8 heap of a thread, and of all that it holds. */
export const MAX_HEAP_MIB = 512;
export const MAX_THREAD_BYTES = 1024 * 1024 * 1024;
/** How long one document may take, from the moment a thread begins with it. */
export const TIME_LIMIT_MS = 60_000;
/** The same for a page, whose words alone take a hundredth of it. */
export const PAGE_TIME_LIMIT_MS = 20_000;
