import type { SandboxSession } from '../../sandbox/sandbox.ts';
import { catchFileErrors } from './files/file-errors.ts';
import { extensionOf, isBinary } from './files/text.ts';
import { readText } from './input.ts';
import { readSkillDocument } from './skills/document.ts';
import { SKILL_FILE, findLearned, findPathFlaw, listLinked } from './skills/volume.ts';
import type { SkillPlace } from './skills/volume.ts';
import { answerTool, failTool } from './tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

const MAX_BYTES = 1024 * 1024;

export const skillViewTool: Tool = {
  name: 'skill_view',
  toolset: 'skills',
  description: 'Read a skill, or with file_path one of the files that come with it.',
  parameters: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      file_path: { type: 'string', description: 'Such as references/api.md, as linked_files names it' },
    },
    required: ['name'],
  },
  readOnly: true,
  parallelism: () => 'shared',
  run: (input, context) => catchFileErrors(() => viewSkill(input, context)),
};

async function viewSkill(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const name = readText(input, 'name').trim();
  const path = readText(input, 'file_path').trim();
  const configured = context.skills.configured.find((skill) => skill.name === name);
  if (configured !== undefined) {
    if (path !== '') return failTool(`The skill "${name}" has no files beside its text.`, { success: false });
    return answerTool(describe(name, configured.content));
  }
  const sandbox = await context.sandbox();
  const places = await findLearned(sandbox);
  const place = places.find((skill) => skill.name === name || `${skill.category}/${skill.name}` === name);
  if (place === undefined) {
    const available = [...context.skills.configured, ...places].map((skill) => skill.name).sort();
    return failTool(`There is no skill "${name}".`, { success: false, available_skills: available });
  }
  return path === '' ? await viewText(sandbox, place) : await viewFile(sandbox, place, path);
}

function describe(name: string, content: string): Record<string, unknown> {
  const { description, tags, related } = readSkillDocument(content);
  return {
    success: true,
    name,
    description,
    tags,
    related_skills: related,
    content,
    path: null,
    skill_dir: null,
    linked_files: null,
  };
}

async function viewText(sandbox: SandboxSession, { name, folder }: SkillPlace): Promise<ToolOutcome> {
  const path = `${folder}/${SKILL_FILE}`;
  const [{ bytes }, linked] = await Promise.all([
    sandbox.readFile(path, { offset: 0, maxBytes: MAX_BYTES }),
    listLinked(sandbox, folder),
  ]);
  const hint = linked === null ? {} : { usage_hint: 'Read linked files with skill_view and file_path.' };
  return answerTool({
    ...describe(name, Buffer.from(bytes).toString('utf8')),
    path,
    skill_dir: `${sandbox.workspace}/${folder}`,
    linked_files: linked,
    ...hint,
  });
}

async function viewFile(sandbox: SandboxSession, { name, folder }: SkillPlace, path: string): Promise<ToolOutcome> {
  const flaw = path === SKILL_FILE ? undefined : findPathFlaw(path);
  if (flaw !== undefined) return failTool(flaw, { success: false });
  const stat = await sandbox.stat(`${folder}/${path}`);
  if (stat?.type !== 'file') {
    const available = await listLinked(sandbox, folder);
    return failTool(`The skill "${name}" has no file ${path}.`, { success: false, available_files: available });
  }
  const { bytes } = await sandbox.readFile(`${folder}/${path}`, { offset: 0, maxBytes: MAX_BYTES });
  if (isBinary(path, bytes)) {
    return answerTool({ success: true, name, file: path, is_binary: true, size_bytes: stat.sizeBytes });
  }
  const content = Buffer.from(bytes).toString('utf8');
  return answerTool({ success: true, name, file: path, content, file_type: extensionOf(path) });
}
