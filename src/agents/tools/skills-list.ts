import { catchFileErrors } from './files/file-errors.ts';
import { readText } from './input.ts';
import { readSkillDocument } from './skills/document.ts';
import { describeLearned } from './skills/volume.ts';
import { answerTool } from './tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

export const skillsListTool: Tool = {
  name: 'skills_list',
  toolset: 'skills',
  description: 'The skills you have, by name and description. Read one with skill_view before you do what it is about.',
  parameters: {
    type: 'object',
    properties: { category: { type: 'string', description: 'Only skills of this category' } },
  },
  readOnly: true,
  parallelism: () => 'shared',
  run: (input, context) => catchFileErrors(() => listSkills(readText(input, 'category'), context)),
};

async function listSkills(category: string, context: ToolContext): Promise<ToolOutcome> {
  const configured = context.skills.configured.map(({ name, content }) => {
    const document = readSkillDocument(content);
    return { name, description: document.description, category: document.category ?? null, source: 'configured' };
  });
  const names = new Set(configured.map(({ name }) => name));
  const learned = await describeLearned(await context.sandbox());
  await context.skills.keepIndex(learned);
  const own = learned.filter(({ name }) => !names.has(name)).map((skill) => ({ ...skill, source: 'learned' }));
  const all = [...configured, ...own].sort((left, right) => (left.name < right.name ? -1 : 1));
  const skills = category === '' ? all : all.filter((skill) => skill.category === category);
  const categories = [...new Set(all.flatMap((skill) => skill.category ?? []))].sort();
  const hint = 'Use skill_view with a name to read the whole skill.';
  return answerTool({ success: true, skills, categories, count: skills.length, hint });
}
