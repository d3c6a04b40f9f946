import type { SandboxSession } from '../../sandbox/sandbox.ts';
import { catchFileErrors } from './files/file-errors.ts';
import { readText } from './input.ts';
import { replaceText } from './patch/replace.ts';
import { findNameFlaw, findTextDanger, findTextFlaw } from './skills/check.ts';
import { SKILLS_FOLDER, SKILL_FILE, describeLearned, findLearned, findPathFlaw } from './skills/volume.ts';
import type { SkillPlace } from './skills/volume.ts';
import { answerTool, failTool } from './tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const ACTIONS = ['create', 'edit', 'patch', 'delete', 'write_file', 'remove_file'];

export const skillManageTool: Tool = {
  name: 'skill_manage',
  toolset: 'skills',
  description:
    'Keep what you have learned about doing a kind of task as a skill, for later sessions. create and edit take the ' +
    'whole Markdown: frontmatter with name and description between lines "---", then instructions. patch replaces ' +
    'old_string by new_string. write_file and remove_file change files below references/, templates/, scripts/, assets/.',
  parameters: {
    type: 'object',
    properties: {
      action: { type: 'string', enum: ACTIONS },
      name: { type: 'string' },
      content: { type: 'string', description: 'For create and edit: the whole text' },
      category: { type: 'string', description: 'For create: a folder to file it under' },
      old_string: { type: 'string' },
      new_string: { type: 'string' },
      replace_all: { type: 'boolean', default: false },
      file_path: { type: 'string', description: 'For write_file and remove_file; for patch, default SKILL.md' },
      file_content: { type: 'string' },
      absorbed_into: { type: 'string', description: 'For delete: the skill that has taken up its content' },
    },
    required: ['action', 'name'],
  },
  readOnly: false,
  parallelism: () => 'exclusive',
  run: (input, context) => catchFileErrors(() => manageSkill(input, context)),
};

const refuse = (message: string) => failTool(message, { success: false });

async function manageSkill(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const name = readText(input, 'name').trim();
  const action = readText(input, 'action');
  const flaw = findNameFlaw('name', name);
  if (flaw !== undefined) return refuse(flaw);
  if (context.skills.configured.some((skill) => skill.name === name)) {
    return refuse(`The skill "${name}" belongs to the agent's configuration and is read-only.`);
  }
  const sandbox = await context.sandbox();
  const places = await findLearned(sandbox);
  const place = places.find((skill) => skill.name === name);
  const outcome =
    action === 'create'
      ? await createSkill(input, name, place, sandbox)
      : place === undefined
        ? failTool(`There is no learned skill "${name}".`, {
            success: false,
            available_skills: places.map((skill) => skill.name).sort(),
          })
        : await changeSkill(action, input, { place, places, sandbox });
  if (!outcome.isError) await context.skills.keepIndex(await describeLearned(sandbox));
  return outcome;
}

async function createSkill(
  input: Record<string, unknown>,
  name: string,
  place: SkillPlace | undefined,
  sandbox: SandboxSession,
): Promise<ToolOutcome> {
  const category = readText(input, 'category').trim();
  const content = readText(input, 'content');
  if (place !== undefined) return refuse(`There is a skill "${name}" already (${place.folder}). Use edit or patch.`);
  const flaw = (category === '' ? undefined : findNameFlaw('category', category)) ?? findTextFlaw(name, content);
  if (flaw !== undefined) return refuse(flaw);
  const path = [SKILLS_FOLDER, category, name, SKILL_FILE].filter((part) => part !== '').join('/');
  await sandbox.writeFile(path, Buffer.from(content, 'utf8'), { overwrite: false });
  return answerTool({ success: true, message: `The skill "${name}" was created.`, path });
}

async function changeSkill(
  action: string,
  input: Record<string, unknown>,
  { place, places, sandbox }: { place: SkillPlace; places: readonly SkillPlace[]; sandbox: SandboxSession },
): Promise<ToolOutcome> {
  switch (action) {
    case 'edit':
      return await writeText(readText(input, 'content'), place, sandbox);
    case 'patch':
      return await patchSkill(input, place, sandbox);
    case 'delete':
      return await deleteSkill(readText(input, 'absorbed_into').trim(), place, places, sandbox);
    case 'write_file':
      return await writeLinked(
        { file: readText(input, 'file_path'), content: readText(input, 'file_content') },
        place,
        sandbox,
      );
    case 'remove_file': {
      const path = readText(input, 'file_path');
      const flaw = findPathFlaw(path);
      if (flaw !== undefined) return refuse(flaw);
      await sandbox.removeFile(`${place.folder}/${path}`);
      return answerTool({ success: true, message: `${path} was removed.` });
    }
    default:
      return refuse(`action must be one of ${ACTIONS.join(', ')}.`);
  }
}

async function writeText(
  content: string,
  { name, folder }: SkillPlace,
  sandbox: SandboxSession,
  ifModifiedMs?: number,
): Promise<ToolOutcome> {
  const flaw = findTextFlaw(name, content);
  if (flaw !== undefined) return refuse(flaw);
  const path = `${folder}/${SKILL_FILE}`;
  const guard = ifModifiedMs === undefined ? {} : { ifModifiedMs };
  await sandbox.writeFile(path, Buffer.from(content, 'utf8'), guard);
  return answerTool({ success: true, message: `The skill "${name}" was changed.`, path });
}

async function patchSkill(
  input: Record<string, unknown>,
  place: SkillPlace,
  sandbox: SandboxSession,
): Promise<ToolOutcome> {
  const file = readText(input, 'file_path') || SKILL_FILE;
  const flaw = file === SKILL_FILE ? undefined : findPathFlaw(file);
  if (flaw !== undefined) return refuse(flaw);
  const path = `${place.folder}/${file}`;
  const { stat, bytes } = await sandbox.readFile(path, { offset: 0, maxBytes: MAX_FILE_BYTES });
  if (stat.sizeBytes > bytes.length) return refuse(`${file} is too large to be patched.`);
  const replacement = replaceText(
    Buffer.from(bytes).toString('utf8'),
    readText(input, 'old_string'),
    readText(input, 'new_string'),
    input['replace_all'] === true,
  );
  if (!replacement.ok) return refuse(replacement.error);
  if (file === SKILL_FILE) return await writeText(replacement.text, place, sandbox, stat.modifiedMs);
  return await writeLinked({ file, content: replacement.text, ifModifiedMs: stat.modifiedMs }, place, sandbox);
}

async function writeLinked(
  { file, content, ifModifiedMs }: { file: string; content: string; ifModifiedMs?: number },
  { folder }: SkillPlace,
  sandbox: SandboxSession,
): Promise<ToolOutcome> {
  const bytes = Buffer.from(content, 'utf8');
  const tooLarge = bytes.length > MAX_FILE_BYTES ? `A file of a skill has at most ${MAX_FILE_BYTES} bytes.` : undefined;
  const flaw = findPathFlaw(file) ?? tooLarge ?? findTextDanger(content);
  if (flaw !== undefined) return refuse(flaw);
  const path = `${folder}/${file}`;
  await sandbox.writeFile(path, bytes, ifModifiedMs === undefined ? {} : { ifModifiedMs });
  return answerTool({ success: true, message: `${file} was written.`, path });
}

async function deleteSkill(
  absorber: string,
  { name, folder }: SkillPlace,
  places: readonly SkillPlace[],
  sandbox: SandboxSession,
): Promise<ToolOutcome> {
  if (absorber !== '' && (absorber === name || !places.some((skill) => skill.name === absorber))) {
    return refuse(`absorbed_into names no other learned skill: "${absorber}".`);
  }
  await sandbox.removeFile(folder, { recursive: true });
  const into = absorber === '' ? '' : ` Its content is in "${absorber}" now.`;
  return answerTool({ success: true, message: `The skill "${name}" was deleted.${into}` });
}
