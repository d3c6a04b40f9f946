import type { ModelDelta } from '../../model.ts';
import { asList, asText, asWire } from '../wire.ts';
import type { Wire } from '../wire.ts';

const FIELDS = ['reasoning_content', 'reasoning'] as const;

/** Text fields of one detail that grow from chunk to chunk. */
const GROWING = ['text', 'summary', 'data'] as const;

function continues(last: Wire | undefined, detail: Wire): last is Wire {
  return (
    last !== undefined &&
    last.type === detail.type &&
    last.index === detail.index &&
    detail.type !== 'reasoning.encrypted'
  );
}

function addDetail(details: Wire[], detail: Wire): void {
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

/** Reads reasoning off deltas, and makes the proof that lets it go back to this upstream later. */
export type ReasoningReader = {
  /** What the delta adds to the reasoning; undefined when it holds none. May be "" beside opaque details. */
  read(delta: Wire): string | undefined;
  /** Ends the open part. */
  close(index: number, out: ModelDelta[]): void;
};

export function buildReasoningReader(issuer: string): ReasoningReader {
  let details: Wire[] = [];
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
        .map(asWire)
        .filter((detail) => detail !== undefined);
      for (const detail of added) {
        addDetail(details, detail);
        if (field === '') text += asText(detail.text) || asText(detail.summary);
      }
      return text === '' && added.length === 0 ? undefined : text;
    },
    close(index, out) {
      // Details hold the text once more: sending both back would count it twice.
      if (details.length > 0) out.push({ type: 'reasoning_proof', index, encrypted: JSON.stringify(details), issuer });
      else if (field !== '') out.push({ type: 'reasoning_proof', index, signature: field, issuer });
      details = [];
      field = '';
    },
  };
}
