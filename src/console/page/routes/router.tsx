import {
  Link,
  Navigate,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { prefetchSession } from '../data/queries.ts';
import { Empty } from '../parts/states.tsx';
import { t } from '../i18n/t.ts';
import { Layout } from '../shell/layout.tsx';

type Raw = Record<string, unknown>;

/** The named text parameters of an address, bounded. All others are dropped. */
function pick<K extends string>(names: readonly K[]): (search: Raw) => { [P in K]?: string } {
  return (search) => {
    const found: { [P in K]?: string } = {};
    for (const name of names) {
      const value = search[name];
      if ((typeof value === 'string' || typeof value === 'number') && value !== '')
        found[name] = String(value).slice(0, 500);
    }
    return found;
  };
}

const root = createRootRoute({
  component: Layout,
  notFoundComponent: () => (
    <Empty text={t('This page does not exist.')}>
      <Link to="/sessions">{t('All sessions')}</Link>
    </Empty>
  ),
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/sessions' });
  },
});
/** Where the identity provider sends a browser: after signing out, or with the error of a failed sign-in. */
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/signin',
  validateSearch: pick(['error', 'requestId']),
  // The sign-in form covers the page until somebody is signed in.
  component: () => <Navigate to="/sessions" replace />,
});
const SESSION_FILTERS = ['status', 'q', 'agent', 'subject', 'from', 'to', 'minCost', 'sort'] as const;
const INBOX_FILTERS = ['type', 'agent', 'subject', 'state'] as const;

const sessions = createRoute({
  getParentRoute: () => root,
  path: '/sessions',
  validateSearch: pick(SESSION_FILTERS),
  component: lazyRouteComponent(() => import('./sessions.tsx'), 'Sessions'),
});
const session = createRoute({
  getParentRoute: () => root,
  path: '/sessions/$sessionId',
  validateSearch: pick(['view', 'event', 'types', 'thread', 'find']),
  // Loads in parallel with the caller and the code of the page.
  loader: ({ params }) => prefetchSession(params.sessionId),
  component: lazyRouteComponent(() => import('./session.tsx'), 'SessionPage'),
});
const inbox = createRoute({
  getParentRoute: () => root,
  path: '/inbox',
  validateSearch: pick(INBOX_FILTERS),
  component: lazyRouteComponent(() => import('./inbox.tsx'), 'InboxPage'),
});
const ask = createRoute({
  getParentRoute: () => root,
  path: '/inbox/$eventId',
  validateSearch: pick(INBOX_FILTERS),
  component: lazyRouteComponent(() => import('./inbox.tsx'), 'InboxPage'),
});
const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  validateSearch: pick(['q', 'status']),
  component: lazyRouteComponent(() => import('./agents.tsx'), 'Agents'),
});
const agent = createRoute({
  getParentRoute: () => root,
  path: '/agents/$agentId',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/agents/$agentId/$tab', params: { ...params, tab: 'overview' }, replace: true });
  },
});
const agentTab = createRoute({
  getParentRoute: () => root,
  path: '/agents/$agentId/$tab',
  validateSearch: pick(['left', 'right', 'subject']),
  component: lazyRouteComponent(() => import('./agent.tsx'), 'AgentPage'),
});
const playground = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  validateSearch: pick(['agent', 'version', 'subject', 'session']),
  component: lazyRouteComponent(() => import('./playground.tsx'), 'Playground'),
});
const usage = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  validateSearch: pick(['from', 'to', 'by', 'filter']),
  component: lazyRouteComponent(() => import('./usage.tsx'), 'UsagePage'),
});
const automations = createRoute({
  getParentRoute: () => root,
  path: '/automations',
  component: lazyRouteComponent(() => import('./automations.tsx'), 'Automations'),
});
const vaults = createRoute({
  getParentRoute: () => root,
  path: '/vaults',
  component: lazyRouteComponent(() => import('./vaults.tsx'), 'Vaults'),
});
const sandboxes = createRoute({
  getParentRoute: () => root,
  path: '/sandboxes',
  component: lazyRouteComponent(() => import('./sandboxes.tsx'), 'Sandboxes'),
});
const models = createRoute({
  getParentRoute: () => root,
  path: '/models',
  component: lazyRouteComponent(() => import('./models.tsx'), 'Models'),
});
const videos = createRoute({
  getParentRoute: () => root,
  path: '/videos',
  component: lazyRouteComponent(() => import('./videos.tsx'), 'Videos'),
});
const logins = createRoute({
  getParentRoute: () => root,
  path: '/logins',
  component: lazyRouteComponent(() => import('./logins.tsx'), 'Logins'),
});
const keys = createRoute({
  getParentRoute: () => root,
  path: '/admin/keys',
  component: lazyRouteComponent(() => import('./keys.tsx'), 'Keys'),
});
const organizations = createRoute({
  getParentRoute: () => root,
  path: '/admin/organizations',
  component: lazyRouteComponent(() => import('./organizations.tsx'), 'Organizations'),
});
const status = createRoute({
  getParentRoute: () => root,
  path: '/admin/status',
  component: lazyRouteComponent(() => import('./status.tsx'), 'StatusPage'),
});
const budgets = createRoute({
  getParentRoute: () => root,
  path: '/admin/budgets',
  component: lazyRouteComponent(() => import('./budgets.tsx'), 'Budgets'),
});
const audit = createRoute({
  getParentRoute: () => root,
  path: '/admin/audit',
  validateSearch: pick(['actor', 'action', 'resource']),
  component: lazyRouteComponent(() => import('./audit.tsx'), 'AuditPage'),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings.tsx'), 'SettingsPage'),
});

const routeTree = root.addChildren([
  home,
  signIn,
  sessions,
  session,
  inbox,
  ask,
  agents,
  agent,
  agentTab,
  playground,
  usage,
  automations,
  vaults,
  sandboxes,
  models,
  videos,
  logins,
  keys,
  organizations,
  status,
  budgets,
  audit,
  settings,
]);

export const router = createRouter({
  routeTree,
  basepath: new URL(document.baseURI).pathname,
  defaultPreload: 'intent',
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
