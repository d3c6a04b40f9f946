import type { RestCommand, RestOption } from './command.ts';

const LIMIT: RestOption = { flags: '--limit <n>', about: 'how many at most', to: 'query', field: 'limit' };

const AUTOMATIONS = '/v1/agents/{agent}/users/{subject}/automations';
const AUTOMATION_OPTIONS: readonly RestOption[] = [
  { flags: '--name <name>', about: 'title of its sessions', to: 'body', field: 'name' },
  { flags: '--timezone <zone>', about: 'IANA time zone of the schedule; default: UTC', to: 'body', field: 'timezone' },
  { flags: '--repeat <n>', about: 'end after so many runs', to: 'body', field: 'repeat', read: 'integer' },
  {
    flags: '--skills <list>',
    about: 'skills of the agent, comma-separated',
    to: 'body',
    field: 'skills',
    read: 'list',
  },
];
const PROMPT: RestOption = { flags: '--prompt <text>', about: 'what each run is asked', to: 'body', field: 'prompt' };
const SCHEDULE: RestOption = {
  flags: '--schedule <schedule>',
  about: 'timestamp, `30m`, `every 2h` or a cron expression',
  to: 'body',
  field: 'schedule',
};

export const AUTOMATION_COMMANDS: readonly RestCommand[] = [
  {
    use: 'automations list [agent]',
    about: 'the automations of an agent for a subject; without an agent, those of everyone',
    method: 'GET',
    path: AUTOMATIONS,
    withoutAgent: '/v1/automations',
    options: [LIMIT],
    columns: [
      ['ID', 'id'],
      ['NAME', 'name'],
      ['SCHEDULE', 'scheduleDisplay'],
      ['STATE', 'state'],
      ['NEXT RUN', 'nextRunAt'],
      ['LAST', 'lastStatus'],
    ],
  },
  {
    use: 'automations create <agent>',
    about: 'run a prompt on a schedule',
    method: 'POST',
    path: AUTOMATIONS,
    options: [{ ...PROMPT, required: true }, { ...SCHEDULE, required: true }, ...AUTOMATION_OPTIONS],
  },
  {
    use: 'automations get <agent> <automation>',
    about: 'one automation',
    method: 'GET',
    path: `${AUTOMATIONS}/{automation}`,
  },
  {
    use: 'automations update <agent> <automation>',
    about: 'change an automation',
    method: 'PATCH',
    path: `${AUTOMATIONS}/{automation}`,
    options: [PROMPT, SCHEDULE, ...AUTOMATION_OPTIONS],
  },
  ...(['pause', 'resume', 'trigger'] as const).map((action) => ({
    use: `automations ${action === 'trigger' ? 'run' : action} <agent> <automation>`,
    about: action === 'trigger' ? 'start a run now' : `${action} an automation`,
    method: 'POST',
    path: `${AUTOMATIONS}/{automation}/${action}`,
  })),
  {
    use: 'automations delete <agent> <automation>',
    about: 'delete an automation; its sessions stay',
    method: 'DELETE',
    path: `${AUTOMATIONS}/{automation}`,
    confirm: 'Delete the automation {automation}?',
    done: 'Deleted {automation}',
  },
];
