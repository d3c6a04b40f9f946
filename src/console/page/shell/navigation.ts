import {
  Activity,
  Bot,
  Box,
  Building2,
  CalendarClock,
  ChartColumn,
  CircleDollarSign,
  CirclePlay,
  Clapperboard,
  Cpu,
  Inbox,
  KeyRound,
  LogIn,
  MessagesSquare,
  ScrollText,
  Settings,
  Vault,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';

export type NavigationItem = {
  to:
    | '/inbox'
    | '/sessions'
    | '/agents'
    | '/playground'
    | '/usage'
    | '/automations'
    | '/vaults'
    | '/sandboxes'
    | '/models'
    | '/videos'
    | '/logins'
    | '/admin/keys'
    | '/admin/organizations'
    | '/admin/status'
    | '/admin/budgets'
    | '/admin/audit'
    | '/settings';
  name: string;
  chord: string;
  icon: LucideIcon;
  /** shown to callers with any of these scopes; absent: to everybody */
  scopes?: readonly string[];
  service?: string;
};

export const NAVIGATION_ITEMS: readonly NavigationItem[] = [
  {
    to: '/inbox',
    name: 'Inbox',
    chord: 'i',
    icon: Inbox,
    scopes: ['agents:read', 'agents:approve'],
    service: 'agents',
  },
  { to: '/sessions', name: 'Sessions', chord: 's', icon: MessagesSquare, scopes: ['agents:read'], service: 'agents' },
  { to: '/agents', name: 'Agents', chord: 'a', icon: Bot, scopes: ['agents:read'], service: 'agents' },
  { to: '/playground', name: 'Playground', chord: 'p', icon: CirclePlay, scopes: ['agents:write'], service: 'agents' },
  { to: '/usage', name: 'Usage', chord: 'u', icon: ChartColumn, scopes: ['inference', 'services:read'] },
  {
    to: '/automations',
    name: 'Automations',
    chord: 't',
    icon: CalendarClock,
    scopes: ['agents:read'],
    service: 'agents',
  },
  { to: '/vaults', name: 'Vaults', chord: 'v', icon: Vault, scopes: ['agents:read'], service: 'agents' },
  { to: '/sandboxes', name: 'Sandboxes', chord: 'x', icon: Box, scopes: ['agents:read'], service: 'agents' },
  {
    to: '/models',
    name: 'Models',
    chord: 'm',
    icon: Cpu,
    scopes: ['inference', 'services:read'],
    service: 'inference',
  },
  {
    to: '/videos',
    name: 'Videos',
    chord: 'd',
    icon: Clapperboard,
    scopes: ['templates:read', 'services:read'],
    service: 'video',
  },
  { to: '/logins', name: 'Logins', chord: 'l', icon: LogIn, scopes: ['login', 'services:read'], service: 'login' },
  { to: '/admin/keys', name: 'API keys', chord: 'k', icon: KeyRound, scopes: ['admin'] },
  { to: '/admin/organizations', name: 'Organizations', chord: 'o', icon: Building2, scopes: ['admin'] },
  { to: '/admin/budgets', name: 'Budgets', chord: 'b', icon: CircleDollarSign, scopes: ['services:read', 'admin'] },
  { to: '/admin/audit', name: 'Audit', chord: 'h', icon: ScrollText, scopes: ['admin'] },
  { to: '/admin/status', name: 'Status', chord: 'e', icon: Activity, scopes: ['admin'] },
  { to: '/settings', name: 'Settings', chord: ',', icon: Settings },
];

export function listPlaces(
  caller: { effectiveScopes: readonly string[]; services: readonly string[] } | undefined,
): readonly NavigationItem[] {
  return NAVIGATION_ITEMS.filter(
    ({ scopes, service }) =>
      (scopes === undefined || scopes.some((scope) => caller?.effectiveScopes.includes(scope))) &&
      (service === undefined || caller === undefined || caller.services.includes(service)),
  );
}
