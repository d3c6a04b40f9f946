import { findDanger } from '../find-danger.ts';
import { readSkillDocument } from './document.ts';

export const MAX_SKILL = 100_000;
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Why a name or category cannot be used, or undefined. */
export function findNameFlaw(field: 'name' | 'category', name: string): string | undefined {
  return NAME.test(name) ? undefined : `${field} must be 1 to 64 lower-case letters, digits, ".", "_" or "-".`;
}

/** Why a text cannot be a learned skill of this name, or undefined. */
export function findTextFlaw(name: string, content: string): string | undefined {
  if (content.length > MAX_SKILL) return `A skill has at most ${MAX_SKILL} characters; move parts to references/.`;
  const document = readSkillDocument(content);
  if (document.flaw !== undefined) return `The frontmatter is not valid YAML: ${document.flaw}`;
  if (document.name === undefined) return 'The text must begin with frontmatter between lines "---" that has a name.';
  if (document.name !== name) return `The name in the frontmatter must be "${name}".`;
  if (!document.isDescribed) return 'The frontmatter must have a description.';
  if (document.body.trim() === '') return 'There must be instructions after the frontmatter.';
  return findTextDanger(content);
}

/** Everything stored for later sessions is checked first. */
export function findTextDanger(text: string): string | undefined {
  const danger = findDanger(text);
  return danger === undefined ? undefined : `This was not saved: it looks like ${danger}.`;
}
