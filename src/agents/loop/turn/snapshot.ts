import type { Skill } from '../../contract/agents.ts';
import { joinEntries, splitEntries } from '../../contract/memory.ts';
import type { MemoryTarget } from '../../contract/memory.ts';
import type { ToolConfig } from '../../contract/tools.ts';
import { describeEnvironment, describeRun } from './environment.ts';
import type { AutomationRun, SandboxFacts } from './environment.ts';
import { SANDBOX_TOOLSETS } from '../../contract/toolsets.ts';
import type { ToolsetName } from '../../contract/toolsets.ts';
import { findToolsetPolicy } from '../tool-calls/policy.ts';
import { describeUsage } from '../../tools/memory/usage.ts';
import type { LearnedSkill } from '../../tools/ports.ts';
import { findDanger } from '../../tools/find-danger.ts';
import { readSkillDocument } from '../../tools/skills/document.ts';

/** Sections of the system prompt, built in a session's first turn and repeated in every later one. */
export type PromptSnapshot = { notes: string[] };

const TITLES: Record<MemoryTarget, string> = {
  agent: 'SHARED NOTES (for everyone you work for)',
  memory: 'MEMORY (your notes)',
  user: 'USER PROFILE (who the user is)',
};
const MAX_INDEX = 20_000;
const MAX_LINE = 240;

/**
 * The day and the sandbox come first. Shared notes are always included; notes about the subject and skills only when
 * their toolset is enabled. Pure.
 */
export function buildPromptSnapshot(input: {
  now: Date;
  /** absent: unknown */
  sandbox?: SandboxFacts | undefined;
  /** set for a session that an automation started */
  automation?: AutomationRun | undefined;
  memories: ReadonlyMap<MemoryTarget, string>;
  configured: readonly Skill[];
  learned: readonly LearnedSkill[];
  toolConfigs: readonly ToolConfig[];
}): PromptSnapshot {
  const isOn = (toolset: ToolsetName) => findToolsetPolicy(input.toolConfigs, toolset).enabled;
  const environment = describeEnvironment(input.now, SANDBOX_TOOLSETS.some(isOn) ? input.sandbox : undefined);
  const run = input.automation === undefined ? '' : describeRun(input.automation, input.now);
  const targets: MemoryTarget[] = isOn('memory') ? ['agent', 'memory', 'user'] : ['agent'];
  const memories = targets.map((target) => renderMemory(target, input.memories.get(target) ?? ''));
  const skills = isOn('skills') ? renderIndex(input.configured, input.learned) : '';
  return { notes: [environment, run, ...memories, skills].filter((note) => note !== '') };
}

// A dangerous entry is hidden from the prompt but stays stored, so that a person can review it.
function renderMemory(target: MemoryTarget, content: string): string {
  const entries = splitEntries(content);
  if (entries.length === 0) return '';
  const safe = entries.map((entry) => {
    const danger = findDanger(entry);
    return danger === undefined ? entry : `[BLOCKED: this entry looks like ${danger} and is not shown]`;
  });
  return `${TITLES[target]} [${describeUsage(target, content)}]\n${joinEntries(safe)}`;
}

function renderIndex(configured: readonly Skill[], learned: readonly LearnedSkill[]): string {
  const own = configured.map(({ name, content }) => ({ name, description: readSkillDocument(content).description }));
  const names = new Set(own.map(({ name }) => name));
  const safe = learned.filter(
    ({ name, description }) => !names.has(name) && findDanger(`${name}\n${description}`) === undefined,
  );
  const lines = [...own, ...safe].map(({ name, description }) =>
    `- ${name}: ${description}`.replaceAll(/\s+/g, ' ').slice(0, MAX_LINE),
  );
  if (lines.length === 0) return '';
  const shown: string[] = [];
  let size = 0;
  for (const line of lines) {
    size += line.length + 1;
    if (size > MAX_INDEX) break;
    shown.push(line);
  }
  if (shown.length < lines.length) shown.push(`- and ${lines.length - shown.length} more: see skills_list`);
  return `Skills you have. Read one with skill_view before you do what it is about:\n${shown.join('\n')}`;
}

/** The full text of the skills that an automation names; its run starts with them. */
export function renderRunSkills(names: readonly string[], configured: readonly Skill[]): string[] {
  return configured
    .filter(({ name }) => names.includes(name))
    .map(
      ({ name, content }) =>
        `The skill "${name}", to be followed in this session:\n${readSkillDocument(content).body.trim()}`,
    );
}
