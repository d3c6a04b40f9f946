import { Link, getRouteApi } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { isStatus } from '../data/http.ts';
import { useAgent, useCan } from '../data/queries.ts';
import type { Agent } from '../data/types.ts';
import { useTitle } from '../data/use-title.ts';
import { t } from '../i18n/t.ts';
import { AgentApprovals } from '../agents/approvals.tsx';
import { AgentFiles } from '../agents/files.tsx';
import { AgentMemory } from '../agents/memory.tsx';
import { ArchiveAgent } from '../agents/archive-agent.tsx';
import { AgentVaults } from '../agents/agent-vaults.tsx';
import { ConfigForm } from '../agents/config-form.tsx';
import { Versions } from '../agents/versions.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { JsonView } from '../parts/json-view.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { AutomationList, NewAutomation } from './automations.tsx';

const route = getRouteApi('/agents/$agentId/$tab');
const TABS = [
  ['overview', 'Configuration'],
  ['versions', 'Versions'],
  ['tools', 'Tools'],
  ['memory', 'Memory'],
  ['files', 'Files'],
  ['approvals', 'Approvals'],
  ['vaults', 'Vaults'],
  ['automations', 'Automations'],
  ['json', 'JSON'],
] as const;

function Head({ agent, tab }: { agent: Agent; tab: string }) {
  useTitle(agent.name);
  const canWrite = useCan('agents:write');
  return (
    <header className="page-head">
      <Link to="/agents" className="icon-button" aria-label={t('All agents')}>
        <ArrowLeft size={16} aria-hidden="true" />
      </Link>
      <h1>{agent.name}</h1>
      {agent.status === 'archived' ? <span className="tag">{t('archived')}</span> : null}
      <span className="meta">
        <Copy text={agent.id} /> {t('version {n} in production', { n: agent.productionVersion })}
      </span>
      <span className="spacer" />
      <Link to="/sessions" search={{ agent: agent.id }} className="button">
        {t('Sessions')}
      </Link>
      {canWrite ? (
        <Link to="/playground" search={{ agent: agent.id }} className="button button-primary">
          {t('Playground')}
        </Link>
      ) : null}
      <ArchiveAgent agent={agent} />
      <nav className="tabs tabs-row" aria-label={t('Parts')}>
        {TABS.map(([name, text]) => (
          <Link
            key={name}
            to="/agents/$agentId/$tab"
            params={{ agentId: agent.id, tab: name }}
            aria-current={tab === name ? 'page' : undefined}
          >
            {t(text)}
          </Link>
        ))}
      </nav>
    </header>
  );
}

/** What a promotion would change; where the latest version is in production, what that version changed. */
function chooseVersions(agent: Agent, search: { left?: string; right?: string }): { left: number; right: number } {
  const right = Number(search.right ?? agent.version.version);
  const before = agent.productionVersion === right ? Math.max(0, right - 1) : agent.productionVersion;
  return { left: Number(search.left ?? before), right };
}

export function AgentPage() {
  const { agentId, tab } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const agent = useAgent(agentId);
  if (isStatus(agent.error, 404)) return <Empty text={t('This agent does not exist.')} />;
  if (agent.error !== null) return <ErrorNote error={agent.error} onRetry={() => void agent.refetch()} />;
  if (agent.data === undefined) return <Skeleton />;
  const latest = agent.data.version.version;
  const choice = {
    subject: search.subject ?? '',
    onSubject: (subject: string) =>
      void navigate({ search: (old) => ({ ...old, subject: subject === '' ? undefined : subject }), replace: true }),
  };
  return (
    <div className="page">
      <Head agent={agent.data} tab={tab} />
      {tab === 'overview' ? <ConfigForm key={latest} agent={agent.data} /> : null}
      {tab === 'versions' ? (
        <Versions
          agent={agent.data}
          {...chooseVersions(agent.data, search)}
          onCompare={(left, next) =>
            void navigate({ search: { left: String(left), right: String(next) }, replace: true })
          }
        />
      ) : null}
      {tab === 'memory' ? <AgentMemory agentId={agentId} {...choice} /> : null}
      {tab === 'files' ? <AgentFiles agentId={agentId} {...choice} /> : null}
      {tab === 'approvals' ? <AgentApprovals agentId={agentId} {...choice} /> : null}
      {tab === 'vaults' ? <AgentVaults agentId={agentId} /> : null}
      {tab === 'automations' ? (
        <>
          <div className="form-foot">
            <NewAutomation agentId={agentId} />
          </div>
          <AutomationList agentId={agentId} />
        </>
      ) : null}
      {tab === 'tools' ? <JsonView value={agent.data.tools} /> : null}
      {tab === 'json' ? <JsonView value={agent.data} /> : null}
    </div>
  );
}
