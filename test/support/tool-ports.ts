import type { LearnedSkill, ToolPorts } from '../../src/agents/tools/ports.ts';
import { openEgress } from '../../src/platform/egress/egress.ts';
import { openWeb } from '../../src/agents/web/web.ts';
import { buildConversion } from '../../src/agents/worker/conversion.ts';
import type { Skill } from '../../src/agents/contract/agents.ts';

export type NotedPorts = ToolPorts & { documents: Map<string, string>; index: LearnedSkill[] };

/** What tools reach beyond the sandbox, in memory; there are no earlier sessions. */
export function buildPorts(configured: Skill[] = []): NotedPorts {
  const egress = openEgress({ allow: [] });
  const ports: NotedPorts = {
    documents: new Map(),
    index: [],
    memory: {
      change: async (target, change) => {
        const { content, answer } = change(ports.documents.get(target) ?? '');
        if (content !== null) ports.documents.set(target, content);
        return answer;
      },
    },
    search: {
      find: async () => ({ hits: [], sessionsSearched: 0 }),
      findSession: async () => undefined,
      readAround: async () => [],
      readEnds: async () => [],
      listRecent: async () => [],
    },
    skills: {
      configured,
      keepIndex: async (learned) => {
        ports.index = [...learned];
      },
    },
    conversion: buildConversion(egress),
    web: openWeb({ egress, search: undefined }),
  };
  return ports;
}
