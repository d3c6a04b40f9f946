import type { LearnedSkill, ToolPorts } from '../../src/agent/tools/ports.ts';
import { openEgress } from '../../src/egress/egress.ts';
import { openWeb } from '../../src/web/web.ts';
import { buildConversion } from '../../src/worker/conversion.ts';
import type { Skill } from '../../src/contract/agents.ts';

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
