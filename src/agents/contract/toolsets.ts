/** Built-in toolsets and the tools that each of them holds. A toolset marked `extra` is off unless enabled by name. */
export const TOOLSETS = {
  clarify: ['clarify'],
  vision: ['vision_analyze'],
  skills: ['skills_list', 'skill_view', 'skill_manage'],
  todo: ['todo'],
  memory: ['memory'],
  session_search: ['session_search'],
  code_execution: ['execute_code'],
  web: ['web_search', 'web_extract'],
  terminal: ['terminal', 'process'],
  file: ['read_file', 'write_file', 'patch', 'search_files'],
  delegation: ['delegate_task'],
  video: ['generate_video'],
  website_login: ['website_login'],
} as const satisfies Record<string, readonly string[]>;

export type ToolsetName = keyof typeof TOOLSETS;

export const TOOLSET_NAMES = Object.keys(TOOLSETS) as [ToolsetName, ...ToolsetName[]];

export const EXTRA_TOOLSETS: readonly ToolsetName[] = ['delegation', 'video', 'website_login'];

/** Their tools work in the sandbox with nearly every call, and have effects nowhere else. */
export const SANDBOX_TOOLSETS: readonly ToolsetName[] = ['terminal', 'file', 'code_execution'];

export const BUILTIN_TOOL_NAMES: readonly string[] = Object.values(TOOLSETS).flat();

/** The toolset that holds a built-in tool, or undefined when no built-in tool has this name. */
export function findToolset(tool: string): ToolsetName | undefined {
  return TOOLSET_NAMES.find((name) => (TOOLSETS[name] as readonly string[]).includes(tool));
}
