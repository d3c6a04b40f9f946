/** What tools in the sandbox find there. */
export type SandboxFacts = {
  /** of the machine, as `uname` names it */
  platform: string;
  /** `none`: nothing can be reached; `policy`: what the operator's network policy allows */
  network: 'none' | 'host' | 'policy';
  /** installed programs; empty: not known */
  programs: readonly string[];
};

/** The automation that a session is a run of. */
export type AutomationRun = { name: string | null; schedule: string };

const NETWORK: Record<SandboxFacts['network'], string> = {
  none: 'The sandbox has no network access: nothing can be downloaded or installed from there.',
  host: 'The sandbox has network access.',
  policy: "The sandbox reaches what the operator's network policy allows.",
};

/** `Sunday, 22 November 2026`, in UTC. */
export function describeDay(time: Date): string {
  const options = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  return time.toLocaleDateString('en-GB', options).replace(/^(\w+) /, '$1, ');
}

/** The calendar day in UTC, to compare days by. */
export function dayOf(time: string): string {
  return time.slice(0, 10);
}

/** What a session's prompt says about the day and the sandbox. `sandbox` is absent where no tool works in one. */
export function describeEnvironment(now: Date, sandbox: SandboxFacts | undefined): string {
  const lines = [
    `Today is ${describeDay(now)}. Days and times are in UTC. A later message says when the day has changed.`,
  ];
  if (sandbox !== undefined) {
    lines.push(`Your tools run on ${sandbox.platform}, with /workspace as the first working directory.`);
    lines.push(NETWORK[sandbox.network]);
    if (sandbox.programs.length > 0) lines.push(`Installed programs: ${sandbox.programs.join(', ')}.`);
  }
  return `ENVIRONMENT\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

/** The prompt section for a run of an automation, in which no person can answer. */
export function describeRun({ name, schedule }: AutomationRun, now: Date): string {
  const which = name === null ? '' : ` "${name}"`;
  const time = `${now.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return [
    `This is a run of the automation${which}, started at ${time}. Its schedule: ${schedule}.`,
    'Nobody is present: questions are not answered, and an approval may come late or never. Decide what can reasonably ' +
      'be decided, finish the task, and end with what was done and what is left.',
  ].join(' ');
}
