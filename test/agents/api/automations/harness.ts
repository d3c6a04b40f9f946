import type { Automation } from '../../../../src/agents/contract/automations.ts';
import { writeJournal } from '../../../../src/agents/store/journal.ts';
import { runDue } from '../../../../src/agents/automations/run-due.ts';
import { makeAgent, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';
import { buildIdle } from '../../../../src/agents/log/build-events.ts';
import type { StopReason } from '../../../../src/agents/contract/events.ts';

export const BODY = { prompt: 'Write the report.', schedule: 'every 2h' };

/** Automations of one subject of one agent that has the skill `report`. */
export async function openAutomations() {
  const api: Api = await openApi();
  const agentId = await makeAgent(api, { skills: [{ name: 'report', content: '# How to report' }] });
  const path = `/v1/agents/${agentId}/users/anna/automations`;
  const { db } = api.backends;
  return {
    api,
    agentId,
    path,
    make: async (body: object = {}, at = path): Promise<Automation> => {
      const reply = await api.call<Automation>('POST', at, { body: { ...BODY, ...body } });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body;
    },
    get: async ({ id }: { id: string }) => (await api.call<Automation>('GET', `${path}/${id}`)).body,
    act: (id: string, action: string) => api.call<Automation>('POST', `${path}/${id}/${action}`),
    patch: (id: string, body: object) => api.call<Automation>('PATCH', `${path}/${id}`, { body }),
    /** Makes it due, as if its time had come. */
    makeDue: (id: string, ago = '1 minute') =>
      db.query(`UPDATE automations SET next_run_at = now() - $2::interval WHERE id = $1`, [id, ago]),
    run: () => runDue(db, 100),
    /** Ends its runs, as a worker would. */
    finish: async (
      id: string,
      stop: StopReason = { type: 'end_turn' },
      more: { interrupted?: true } = {},
    ): Promise<void> => {
      const { rows } = await db.query<{ session_id: string; turn_id: string }>(
        `SELECT session_id, turn_id FROM automation_runs WHERE automation_id = $1 AND state = 'running'`,
        [id],
      );
      for (const { session_id: sessionId, turn_id: turnId } of rows) {
        await writeJournal(db, [
          {
            sessionId,
            epoch: null,
            events: [buildIdle({ id: `evt_${sessionId}`, turnId }, { stop_reason: stop, ...more })],
            session: { status: 'idle', liveTurn: null, wakeAt: null },
            turn: { id: turnId, state: 'ended' },
          },
        ]);
      }
    },
    close: () => api.close(),
  };
}
export type Automations = Awaited<ReturnType<typeof openAutomations>>;
