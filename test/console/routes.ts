import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import type { ConsoleServer } from './open-console.ts';

/** A path below `/console/`, and what is on it once it is loaded. */
export type ConsoleRoute = readonly [path: string, ready: string];

/** Each address of the console on a server with demo data. */
export async function listRoutes(site: Pick<ConsoleServer, 'call'>): Promise<ConsoleRoute[]> {
  const { data: agents } = await site.call<{ data: Agent[] }>('GET', '/v1/agents');
  const { data: sessions } = await site.call<{ data: Session[] }>('GET', '/v1/sessions');
  const agent = agents.find(({ name }) => name === 'support')?.id ?? '';
  const reporter = agents.find(({ name }) => name === 'reporter')?.id ?? '';
  const find = (title: string) => sessions.find((session) => session.title === title)?.id ?? '';
  return [
    ['sessions', 'table.list tbody tr'],
    ['sessions?q=nothing-has-this-name', '.empty'],
    [`sessions/${find('Weekly report')}`, '.event'],
    [`sessions/${find('Weekly report')}?find=order`, '.match'],
    [`sessions/${find('Weekly report')}?types=calls`, '.match'],
    [`sessions/${find('Weekly report')}?view=timeline`, '.timeline-turn, .empty'],
    [`sessions/${find('Weekly report')}?view=raw`, '.raw-line'],
    [`sessions/${find('Delete old exports')}`, '.ask-card-open .answers'],
    [`sessions/${find('Import of contacts')}`, '.note-error'],
    ['sessions/ses_01m81zzn88ecy9rs3wbezc8mch', '.empty'],
    ['inbox', '.ask-row'],
    ['agents', 'table.list tbody tr'],
    [`agents/${agent}/overview`, 'form.form'],
    [`agents/${agent}/versions`, '.diff'],
    [`agents/${agent}/memory?subject=ada`, '.form .form textarea'],
    [`agents/${reporter}/files?subject=team-7`, 'table.list tbody tr'],
    [`agents/${agent}/approvals?subject=ada`, 'table.list tbody tr, .empty'],
    [`agents/${agent}/vaults`, '.empty'],
    [`agents/${agent}/automations`, '.empty'],
    ['playground', '.playground-session button'],
    ['usage', '.chart'],
    ['usage?by=agent', '.chart'],
    ['usage?from=2001-01-01&to=2001-01-02', '.empty'],
    ['automations', 'table.list tbody tr, .empty'],
    ['vaults', '.empty'],
    ['sandboxes', 'table.list tbody tr, .empty'],
    ['models', 'table.list tbody tr'],
    ['videos', '.video-card, .empty'],
    ['logins', '.empty'],
    ['admin/keys', 'table.list tbody tr'],
    ['admin/organizations', 'table.list tbody tr'],
    ['admin/status', '.server-state'],
    ['admin/budgets', 'table.list tbody tr, .budget'],
    ['admin/audit', 'table.list tbody tr'],
    ['settings', '.facts'],
    ['nowhere', '.empty'],
  ];
}
