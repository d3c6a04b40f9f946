import type { RestCommand } from './command.ts';

const ONE = '/v1/webhooks/{webhook}';

/** Endpoints that are told of events. */
export const WEBHOOK_COMMANDS: readonly RestCommand[] = [
  {
    use: 'webhooks list',
    about: 'the webhooks',
    method: 'GET',
    path: '/v1/webhooks',
    options: [{ flags: '--limit <n>', about: 'how many at most', to: 'query', field: 'limit' }],
    columns: [
      ['ID', 'id'],
      ['URL', 'url'],
      ['EVENTS', 'events'],
      ['ENABLED', 'enabled'],
      ['FAILING SINCE', 'failingSince'],
    ],
  },
  {
    use: 'webhooks deliveries <webhook>',
    about: 'what was sent in the last 30 days, newest first',
    method: 'GET',
    path: `${ONE}/deliveries`,
    options: [
      { flags: '--limit <n>', about: 'how many at most', to: 'query', field: 'limit' },
      { flags: '--state <state>', about: 'pending, delivered or failed', to: 'query', field: 'state' },
    ],
    columns: [
      ['ID', 'id'],
      ['TYPE', 'type'],
      ['STATE', 'state'],
      ['ATTEMPTS', 'attempts'],
      ['STATUS', 'lastStatus'],
      ['ERROR', 'lastError'],
    ],
  },
  { use: 'webhooks test <webhook>', about: 'send a test delivery', method: 'POST', path: `${ONE}/test` },
  {
    use: 'webhooks redeliver <webhook> <delivery>',
    about: 'send a delivery again',
    method: 'POST',
    path: `${ONE}/deliveries/{delivery}/redeliver`,
  },
  {
    use: 'webhooks delete <webhook>',
    about: 'delete a webhook with its deliveries',
    method: 'DELETE',
    path: ONE,
    confirm: 'Delete the webhook {webhook}?',
    done: 'Deleted {webhook}',
  },
];
