import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { glob, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { EventEnvelope } from '../../../src/agents/contract/events.ts';
import { makeScratch } from '../scratch.ts';
import { KEY, openApplication } from './application.ts';
import type { Application } from './application.ts';
import { startCrashModel } from './model.ts';
import type { CrashModel } from './model.ts';
import type { Keep } from './keep.ts';
import { driveSession } from './session.ts';
import type { DrivenSession } from './session.ts';
import type { Workload } from './workload.ts';

/** One session at the end. */
export type Outcome = DrivenSession & { log: EventEnvelope[]; record: Record<string, unknown>; ledger: string[] };

export type TrialResult = {
  outcomes: Outcome[];
  kills: number;
  /** workloads with at least one fault */
  struck: number;
  model: CrashModel;
  faults: string[];
};

/** Time limit for a session to become idle. */
const LIMIT_MS = 300_000;
const COMPILED = fileURLToPath(new URL('../../../node_modules/.cache/capstan/compiled', import.meta.url));

const TOOLSETS = (terminal: string) => ({
  type: 'agent_toolset',
  defaultConfig: { enabled: true, permissionPolicy: { type: 'always_allow' } },
  configs: [{ name: 'terminal', permissionPolicy: { type: terminal } }],
});
const CHARGE = {
  type: 'custom_tool',
  name: 'charge',
  description: 'Charges an item.',
  input_schema: { properties: { item: { type: 'string' } } },
  permissionPolicy: { type: 'always_allow' },
};

/** Settings of a server whose models are ours, with a scratch folder of its own. */
export function writeSettings(folder: string, model: CrashModel): Record<string, string> {
  const config = { providers: { crash: { format: 'chat-completions', baseUrl: model.url, apiKey: 'none' } } };
  writeFileSync(join(folder, 'capstan.yaml'), JSON.stringify(config));
  mkdirSync(join(folder, 'tmp'));
  return {
    // A killed server leaves files of its sandboxes there.
    TMPDIR: join(folder, 'tmp'),
    CAPSTAN_DATA_DIR: folder,
    CAPSTAN_CONFIG: join(folder, 'capstan.yaml'),
    CAPSTAN_API_KEY: KEY,
    CAPSTAN_LOG_LEVEL: 'info',
    // Starts cost half as much when the program was compiled before.
    NODE_COMPILE_CACHE: COMPILED,
  };
}

export async function createSession(app: Application, kind: 'free' | 'asking', subjectId: string): Promise<string> {
  const body = {
    name: kind,
    modelName: 'crash/model',
    systemPrompt: 'Follow the plan.',
    skills: [],
    tools: [TOOLSETS(kind === 'free' ? 'always_allow' : 'always_ask'), CHARGE],
    rateLimits: { conversationsPerMinute: 300, messagesPerMinute: 1000 },
  };
  const agent = await app.call('POST', '/v1/agents', { body });
  const session = await app.call('POST', '/v1/sessions', { body: { agentId: agent.body['id'], subjectId } });
  if (session.status !== 201) throw new Error(`session: ${JSON.stringify([agent.body, session.body])}`);
  return String(session.body['id']);
}

export async function readWholeLog(app: Application, id: string): Promise<EventEnvelope[]> {
  const log: EventEnvelope[] = [];
  for (;;) {
    const { body } = await app.call('GET', `/v1/sessions/${id}/events?after=${log.at(-1)?.sequence ?? 0}&limit=100`);
    log.push(...(body['data'] as EventEnvelope[]));
    if (!(body['pagination'] as { hasMore: boolean }).hasMore) return log;
  }
}

/** The ledger lines of a subject's commands. */
export async function readLedger(folder: string, subjectId: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const path of glob(join(folder, 'volumes', '*', '*', subjectId, 'ledger'))) {
    lines.push(...readFileSync(path, 'utf8').split('\n'));
  }
  return lines.filter((line) => line !== '');
}

export async function waitSettled(sessions: readonly DrivenSession[], deadline: number): Promise<void> {
  for (let quiet = 0; quiet < 3;) {
    const settled = await Promise.all(sessions.map((session) => session.isSettled()));
    quiet = settled.every(Boolean) ? quiet + 1 : 0;
    if (performance.now() > deadline) throw new Error(`not settled: ${settled.join(', ')}`);
    await sleep(80);
  }
}

/** The environment of a trial. `check` inspects leftovers after the server has ended. */
export type Prepared = {
  env: Record<string, string>;
  check: () => Promise<string[]>;
  close: () => Promise<void>;
};

/**
 * Runs workloads, one after the other, while the server is killed and started again, each until every session rests. What
 * the earlier ones have left is looked at after the last. `env` names the backends; `folder` holds what the server keeps,
 * `check` looks at it once the server has ended.
 */
export async function runTrial(
  workloads: readonly Workload[],
  keep: Keep,
  prepare: (folder: string) => Promise<Prepared>,
): Promise<TrialResult> {
  const folder = makeScratch('crash');
  const model = await startCrashModel();
  const { env, check, close } = await prepare(folder);
  const servers = keep({ ...writeSettings(folder, model), ...env }, workloads[0]?.kills ?? [], model);
  let over = false;
  const app = openApplication(
    () => servers.url(),
    () => over || servers.faults.length > 0,
  );
  const sessions: DrivenSession[] = [];
  let struck = 0;
  try {
    for (const [place, workload] of workloads.entries()) {
      if (place > 0) await servers.suffer(workload.kills);
      const before = servers.kills();
      const deadline = performance.now() + LIMIT_MS;
      for (const plan of workload.sessions) {
        const id = await createSession(app, plan.agent, plan.name);
        sessions.push(driveSession(id, plan, app, workload.answers));
      }
      await waitSettled(sessions.slice(-workload.sessions.length), deadline);
      if (servers.kills() > before) struck += 1;
    }
    const outcomes = await Promise.all(
      sessions.map(async (session) => ({
        ...session,
        log: await readWholeLog(app, session.id),
        record: (await app.call('GET', `/v1/sessions/${session.id}`)).body,
        ledger: await readLedger(folder, session.plan.name),
      })),
    );
    over = true;
    await servers.stop();
    return { outcomes, kills: servers.kills(), struck, model, faults: [...servers.faults, ...(await check())] };
  } catch (error) {
    over = true;
    const faults = [...servers.faults, ...sessions.flatMap((session) => session.faults)].join('\n');
    throw new Error(`${String(error)}\n${faults}\n${servers.output().slice(-3000)}`, { cause: error });
  } finally {
    over = true;
    await servers.stop();
    await model.close();
    await close();
    await Promise.all(sessions.map((session) => session.done));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
