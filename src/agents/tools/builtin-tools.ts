import { clarifyTool } from './clarify.ts';
import { delegateTaskTool } from './delegate-task.ts';
import { executeCodeTool } from './execute-code.ts';
import { memoryTool } from './memory.ts';
import { patchTool } from './patch.ts';
import { processTool } from './process.ts';
import { readFileTool } from './read-file.ts';
import { searchFilesTool } from './search-files.ts';
import { sessionSearchTool } from './session-search.ts';
import { skillManageTool } from './skill-manage.ts';
import { skillViewTool } from './skill-view.ts';
import { skillsListTool } from './skills-list.ts';
import { terminalTool } from './terminal.ts';
import { todoTool } from './todo.ts';
import type { Tool } from './tool.ts';
import { visionAnalyzeTool } from './vision-analyze.ts';
import { webExtractTool } from './web-extract.ts';
import { webSearchTool } from './web-search.ts';
import { writeFileTool } from './write-file.ts';

/** The tools that need nothing but their context. */
export function buildTools(): Tool[] {
  return [
    readFileTool,
    writeFileTool,
    patchTool,
    searchFilesTool,
    terminalTool,
    processTool,
    executeCodeTool,
    visionAnalyzeTool,
    webSearchTool,
    webExtractTool,
    todoTool,
    clarifyTool,
    memoryTool,
    sessionSearchTool,
    skillsListTool,
    skillViewTool,
    skillManageTool,
    delegateTaskTool,
  ];
}
