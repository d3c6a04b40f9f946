import { SandboxFileError } from '../../../sandbox/sandbox.ts';
import type { FileStat, SandboxSession } from '../../../sandbox/sandbox.ts';
import type { LearnedSkill } from '../ports.ts';
import { readSkillDocument } from './document.ts';

/** Learned skills live below this folder of the volume: `skills/[category/]name/SKILL.md`. */
export const SKILLS_FOLDER = 'skills';
export const SKILL_FILE = 'SKILL.md';
/** Folders of a skill that may hold files beside its text. */
export const LINKED_FOLDERS = ['references', 'templates', 'scripts', 'assets'] as const;

const MAX_SKILLS = 300;
const MAX_FILES = 200;
const HEAD_BYTES = 8192;
const AT_ONCE = 8;

/** Where a skill is on the volume. */
export type SkillPlace = { name: string; category: string | null; folder: string };

const baseName = (stat: FileStat): string => stat.path.slice(stat.path.lastIndexOf('/') + 1);

async function listFolders(sandbox: SandboxSession, folder: string): Promise<string[]> {
  const entries = await listOrNone(sandbox, folder);
  return entries
    .filter((entry) => entry.type === 'directory')
    .map(baseName)
    .filter((name) => !name.startsWith('.'));
}

async function listOrNone(sandbox: SandboxSession, folder: string): Promise<FileStat[]> {
  try {
    return await sandbox.listDirectory(folder);
  } catch (error) {
    if (error instanceof SandboxFileError && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
    throw error;
  }
}

async function mapSome<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(act))));
  }
  return results;
}

/** A folder with a text is a skill, one without is a category. At most 300 skills are found. */
export async function findLearned(sandbox: SandboxSession): Promise<SkillPlace[]> {
  const top = (await listFolders(sandbox, SKILLS_FOLDER)).slice(0, MAX_SKILLS);
  const found = await mapSome(top, async (name): Promise<SkillPlace[]> => {
    const folder = `${SKILLS_FOLDER}/${name}`;
    const text = await sandbox.stat(`${folder}/${SKILL_FILE}`);
    if (text?.type === 'file') return [{ name, category: null, folder }];
    const inner = (await listFolders(sandbox, folder)).slice(0, MAX_SKILLS);
    const stats = await mapSome(inner, (skill) => sandbox.stat(`${folder}/${skill}/${SKILL_FILE}`));
    return inner.flatMap((skill, index) =>
      stats[index]?.type === 'file' ? [{ name: skill, category: name, folder: `${folder}/${skill}` }] : [],
    );
  });
  return found.flat().slice(0, MAX_SKILLS);
}

/** With what their texts say about them, sorted by name. */
export async function describeLearned(sandbox: SandboxSession): Promise<LearnedSkill[]> {
  const places = await findLearned(sandbox);
  const skills = await mapSome(places, async ({ name, category, folder }): Promise<LearnedSkill> => {
    const { bytes } = await sandbox.readFile(`${folder}/${SKILL_FILE}`, { offset: 0, maxBytes: HEAD_BYTES });
    const { description } = readSkillDocument(Buffer.from(bytes).toString('utf8'));
    return { name, description, category };
  });
  return skills.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Paths of the files beside a skill's text, relative to its folder, by kind; null when there are none. */
export async function listLinked(sandbox: SandboxSession, folder: string): Promise<Record<string, string[]> | null> {
  const lists = await Promise.all(
    LINKED_FOLDERS.map(async (kind) => {
      const entries = await listOrNone(sandbox, `${folder}/${kind}`);
      const files = entries.filter((entry) => entry.type === 'file').map((entry) => `${kind}/${baseName(entry)}`);
      return [kind, files.slice(0, MAX_FILES)] as const;
    }),
  );
  const filled = lists.filter(([, files]) => files.length > 0);
  return filled.length === 0 ? null : Object.fromEntries(filled);
}

/** Why a path cannot be that of a file beside a skill's text, or undefined. */
export function findPathFlaw(path: string): string | undefined {
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..') || path.includes('\0')) {
    return 'file_path must be relative to the skill and must not hold "..".';
  }
  const [top = ''] = parts;
  if (parts.length < 2 || !(LINKED_FOLDERS as readonly string[]).includes(top)) {
    return `file_path must lie below ${LINKED_FOLDERS.map((name) => `${name}/`).join(', ')}.`;
  }
  return undefined;
}
