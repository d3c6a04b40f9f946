import type { Citation, TextPart } from '../../inference/model.ts';
import type { JsonObject } from './dialect.ts';

/** `offset`: characters of the answer before this part. */
function buildUrlCitation({ url, title, start, end }: Citation, part: TextPart, offset: number): JsonObject {
  return {
    url,
    title: title ?? url,
    start_index: offset + (start ?? 0),
    end_index: offset + (end ?? part.text.length),
  };
}

/** An entry of `annotations` of a chat message; undefined for citations that the format does not have. */
export function buildChatAnnotation(citation: Citation, part: TextPart, offset: number): JsonObject | undefined {
  if (citation.url === undefined) return undefined;
  return { type: 'url_citation', url_citation: buildUrlCitation(citation, part, offset) };
}

/** An entry of `annotations` of an output text of the responses format. */
export function buildResponseAnnotation(citation: Citation, part: TextPart): JsonObject | undefined {
  if (citation.source === 'responses') return citation.native;
  if (citation.url === undefined) return undefined;
  return { type: 'url_citation', ...buildUrlCitation(citation, part, 0) };
}

/** An entry of `citations` of a text block of the messages format. */
export function buildBlockCitation(citation: Citation, part: TextPart): JsonObject | undefined {
  const { source, native, url, title, start, end, citedText } = citation;
  if (source === 'messages') return native;
  if (url === undefined) return undefined;
  return {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    cited_text: citedText ?? part.text.slice(start ?? 0, end ?? part.text.length),
    encrypted_index: '',
  };
}

/** The citations of a part as `build` writes them. */
export function listCitations(
  part: TextPart,
  build: (citation: Citation, part: TextPart) => JsonObject | undefined,
): JsonObject[] {
  return (part.citations ?? []).map((citation) => build(citation, part)).filter((entry) => entry !== undefined);
}
