import type { Db } from '../../platform/db/db.ts';
import type { SearchPort, ToolPorts } from '../tools/ports.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Subject } from '../store/approvals.ts';
import type { Claim } from '../store/leases.ts';
import type { Web } from '../web/web.ts';
import { changeMemory } from '../store/memories.ts';
import { buildConversion } from './conversion.ts';
import { saveLearnedSkills } from '../store/prompt-snapshots.ts';
import { findSessionFacts, listRecentSessions, readMessages, searchMessages } from '../store/search.ts';

/** What the tools of a session reach: in the database, what belongs to its organization, agent and subject. */
export function buildToolPorts(claim: Claim, { db, egress, web }: { db: Db; egress: Egress; web: Web }): ToolPorts {
  const { organizationId, agentId, subjectId } = claim;
  const subject = { organizationId, agentId, subjectId };
  return {
    memory: {
      change: async (target, change) =>
        db.transaction(async (tx) => {
          let answer: { value: ReturnType<typeof change>['answer'] } | undefined;
          await changeMemory(tx, { ...subject, target }, (before) => {
            const { content, answer: value } = change(before);
            answer = { value };
            return content;
          });
          if (answer === undefined) throw new Error('The agent is gone.');
          return answer.value;
        }),
    },
    search: buildSearch(db, subject),
    skills: {
      configured: claim.version.skills,
      keepIndex: (learned) => saveLearnedSkills(db, subject, learned),
    },
    conversion: buildConversion(egress),
    web,
  };
}

function buildSearch(db: Db, subject: Subject): SearchPort {
  const read = async (sessionId: string, messageId: number, show: { window: number; first: number; last: number }) =>
    (await readMessages(db, subject, [{ sessionId, messageId }], show)).get(sessionId)?.messages ?? [];
  return {
    async find({ window, ends, ...query }) {
      const { hits, sessions } = await searchMessages(db, subject, query);
      const places = hits.map(({ session, messageId }) => ({ sessionId: session.sessionId, messageId }));
      const views = await readMessages(db, subject, places, { window, first: ends, last: ends });
      const seen = hits.map((hit) => {
        const view = views.get(hit.session.sessionId) ?? { messages: [], before: 0, after: 0 };
        return { ...hit, messages: view.messages, messagesBefore: view.before, messagesAfter: view.after };
      });
      return { hits: seen, sessionsSearched: sessions };
    },
    findSession: (sessionId) => findSessionFacts(db, subject, sessionId),
    readAround: (sessionId, messageId, window) => read(sessionId, messageId, { window, first: 0, last: 0 }),
    readEnds: (sessionId, first, last) => read(sessionId, 0, { window: 0, first, last }),
    listRecent: (limit, exclude) => listRecentSessions(db, subject, limit, exclude),
  };
}
