import type { ModelDelta } from '../../model.ts';
import { asList, asText, asObject } from '../wire.ts';
import type { JsonObject } from '../wire.ts';

const FIELDS = ['reasoning_content', 'reasoning'] as const;

/** Text fields of one detail that grow from chunk to chunk. */
const GROWING = ['text', 'summary', 'data'] as const;

function continues(last: JsonObject | undefined, detail: JsonObject): last is JsonObject {
  return (
    last !== undefined &&
    last.type === detail.type &&
    last.index === detail.index &&
    detail.type !== 'reasoning.encrypted'
  );
}

function addDetail(details: JsonObject[], detail: JsonObject): void {
  const last = details.at(-1);
  if (!continues(last, detail)) {
    details.push({ ...detail });
    return;
  }
  const grown = { ...last };
  for (const [key, value] of Object.entries(detail)) if (value !== null && value !== undefined) grown[key] = value;
  for (const key of GROWING) {
    if (typeof last[key] === 'string' && typeof detail[key] === 'string') grown[key] = last[key] + detail[key];
  }
  details[details.length - 1] = grown;
}

/** Reads reasoning from deltas, and builds the signature with which it can be returned to this upstream. */
export type ReasoningReader = {
  /** The delta's reasoning text; undefined if it has none. It is "" for a delta with only opaque details. */
  read(delta: JsonObject): string | undefined;
  /** Ends the open part. */
  close(index: number, out: ModelDelta[]): void;
};

export function buildReasoningReader(issuer: string): ReasoningReader {
  let details: JsonObject[] = [];
  let field = '';

  return {
    read(delta) {
      let text = '';
      for (const name of FIELDS) {
        text = asText(delta[name]);
        if (text === '') continue;
        field = name;
        break;
      }
      const added = asList(delta.reasoning_details)
        .map(asObject)
        .filter((detail) => detail !== undefined);
      for (const detail of added) {
        addDetail(details, detail);
        if (field === '') text += asText(detail.text) || asText(detail.summary);
      }
      return text === '' && added.length === 0 ? undefined : text;
    },
    close(index, out) {
      // The details repeat the text: returning both would duplicate it.
      if (details.length > 0)
        out.push({ type: 'reasoning_signature', index, encrypted: JSON.stringify(details), issuer });
      else if (field !== '') out.push({ type: 'reasoning_signature', index, signature: field, issuer });
      details = [];
      field = '';
    },
  };
}
