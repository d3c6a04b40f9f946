import { parse } from 'yaml';
import { isRecord } from '../../../platform/records.ts';

/** A skill's Markdown, read: what stands between two lines `---` at its beginning, and the rest. */
export type SkillDocument = {
  name: string | undefined;
  description: string;
  /** the description is the frontmatter's own */
  isDescribed: boolean;
  category: string | undefined;
  tags: string[];
  related: string[];
  body: string;
  /** why the frontmatter cannot be read, when it cannot */
  flaw: string | undefined;
};

const FRONTMATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
export const MAX_DESCRIPTION = 1024;

/** A document without frontmatter is described by its first heading, else by its first paragraph. */
export function readSkillDocument(content: string): SkillDocument {
  const match = FRONTMATTER.exec(content);
  const body = match === null ? content : content.slice(match[0].length);
  const { fields, flaw } = match === null ? { fields: {}, flaw: undefined } : readFields(match[1] ?? '');
  const metadata = asRecord(fields['metadata']);
  const given = asText(fields['description']);
  const description = given ?? findDescription(body);
  return {
    name: asText(fields['name']),
    description: description.slice(0, MAX_DESCRIPTION),
    isDescribed: given !== undefined,
    category: asText(fields['category']) ?? asText(metadata['category']),
    tags: asTexts(metadata['tags'] ?? fields['tags']),
    related: asTexts(metadata['related_skills'] ?? fields['related_skills']),
    body,
    flaw,
  };
}

function readFields(text: string): { fields: Record<string, unknown>; flaw: string | undefined } {
  try {
    return { fields: asRecord(parse(text, { maxAliasCount: 10 })), flaw: undefined };
  } catch (error) {
    return { fields: {}, flaw: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) };
  }
}

function findDescription(body: string): string {
  const lines = body.split('\n').map((line) => line.trim());
  const heading = lines.find((line) => /^#{1,6}\s+\S/.test(line));
  return (heading ?? lines.find((line) => line !== '') ?? '').replace(/^#+\s+/, '');
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function asTexts(value: unknown): string[] {
  const list = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  return list.flatMap((item: unknown) => asText(item) ?? []);
}
