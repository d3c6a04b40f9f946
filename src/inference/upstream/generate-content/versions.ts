import type { UpstreamTarget } from '../dialect.ts';

/** The version in a model's name; undefined for an alias such as `gemini-flash-latest` and for other models. */
export function readVersion(model: string): number | undefined {
  const found = /gemini-(\d{1,2}(?:\.\d)?)(?![\d.])/.exec(model);
  return found === null ? undefined : Number(found[1]);
}

export function isAtLeast(model: string, version: number): boolean {
  const found = readVersion(model);
  return found !== undefined && found >= version;
}

/** Vertex AI serves the models of several publishers, and knows no ids of calls. */
export function isVertex({ baseUrl }: UpstreamTarget): boolean {
  return baseUrl.includes('/publishers/');
}
