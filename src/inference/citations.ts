import { omitUndefined } from '../platform/records.ts';
import type { UpstreamFormat } from './config.ts';
import type { Citation } from './model.ts';
import { asList, asObject, asText } from './upstream/wire.ts';
import type { JsonObject } from './upstream/wire.ts';

function readOffset(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

type Fields = { [K in 'url' | 'title' | 'start' | 'end' | 'citedText']?: Citation[K] | undefined };

function buildCitation(source: UpstreamFormat, native: JsonObject, fields: Fields): Citation {
  return { source, native, ...omitUndefined(fields) };
}

function orUndefined(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** An entry of `annotations` in either OpenAI format; chat completions nests its fields one level deeper. */
export function readAnnotation(source: UpstreamFormat, value: unknown): Citation | undefined {
  const native = asObject(value);
  if (native === undefined) return undefined;
  const inner = asObject(native.url_citation) ?? native;
  return buildCitation(source, native, {
    url: orUndefined(asText(inner.url)),
    title: orUndefined(asText(inner.title)),
    start: readOffset(inner.start_index),
    end: readOffset(inner.end_index),
  });
}

/** An entry of a text block's `citations` in the messages format. */
export function readBlockCitation(value: unknown): Citation | undefined {
  const native = asObject(value);
  if (native === undefined) return undefined;
  return buildCitation('messages', native, {
    url: orUndefined(asText(native.url) || asText(native.source)),
    title: orUndefined(asText(native.title) || asText(native.document_title)),
    citedText: orUndefined(asText(native.cited_text)),
  });
}

/** Search providers put their sources beside the choices: `search_results`, or `citations` with URLs alone. */
export function readSources(chunk: JsonObject): Citation[] {
  const results = asList(chunk.search_results);
  const found = results.length > 0 ? results : asList(chunk.citations);
  return found.flatMap((item) => {
    const native = typeof item === 'string' ? { url: item } : asObject(item);
    const url = asText(native?.url);
    if (native === undefined || url === '') return [];
    return [buildCitation('chat-completions', native, { url, title: orUndefined(asText(native.title)) })];
  });
}
