import type { RestCommand } from './command.ts';

const BUDGET = '/v1/budgets/{scope}/{id}';
/** What may be spent. */
export const BUDGET_COMMANDS: readonly RestCommand[] = [
  {
    use: 'budgets list',
    about: 'what may be spent, and what is',
    method: 'GET',
    path: '/v1/budgets',
    options: [
      { flags: '--limit <n>', about: 'how many at most', to: 'query', field: 'limit' },
      { flags: '--scope <scope>', about: 'such as agent or key', to: 'query', field: 'scope' },
    ],
    columns: [
      ['SCOPE', 'scope'],
      ['ID', 'id'],
      ['LIMIT USD', 'limitUsd'],
      ['PERIOD', 'period'],
      ['SPENT', 'spentUsd'],
      ['RESERVED', 'reservedUsd'],
      ['REMAINING', 'remainingUsd'],
      ['WHEN REACHED', 'onReached'],
    ],
  },
  { use: 'budgets get <scope> <id>', about: 'one budget', method: 'GET', path: BUDGET },
  {
    use: 'budgets set <scope> <id>',
    about: 'limit an organization, key, agent, subject (`<agent>:<subject>`), automation or session',
    method: 'PUT',
    path: BUDGET,
    options: [
      { flags: '--limit <usd>', about: 'US dollars', to: 'body', field: 'limitUsd', read: 'number', required: true },
      { flags: '--period <period>', about: 'total, day, week, month or session', to: 'body', field: 'period' },
      { flags: '--on-reached <what>', about: 'pause, refuse or notify', to: 'body', field: 'onReached' },
    ],
  },
  {
    use: 'budgets delete <scope> <id>',
    about: 'delete a budget',
    method: 'DELETE',
    path: BUDGET,
    confirm: 'Delete the budget of {scope} {id}?',
    done: 'Deleted the budget of {scope} {id}',
  },
];
