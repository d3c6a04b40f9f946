// Tests: test/agents/api/demo-usage.test.ts
import { buildRandom } from '../../../platform/random.ts';
import type { Random } from '../../../platform/random.ts';

/** One subject of one agent. */
export type DemoSubject = { agentId: string; subjectId: string };

/** An entry of the ledger that nobody has paid for. */
export type DemoRecord = {
  at: string;
  source: 'agents' | 'gateway';
  kind: 'model' | 'tool';
  name: string;
  keyId: string;
  agentId: string;
  subjectId: string;
  calls: number;
  failures: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  toolCalls: number;
  sandboxMs: number;
  costUsd: number;
  latencyMs: number;
};

export const DEMO_DAYS = 30;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** US dollars for a million tokens. No provider has these models. */
const MODELS = [
  { name: 'demo/large', input: 3, cached: 0.3, output: 15, latencyMs: 4200 },
  { name: 'demo/small', input: 0.25, cached: 0.025, output: 1.25, latencyMs: 900 },
] as const;
const MAX_CALLS = 8;
const FAILURE_SHARE = 0.02;

type Caller = Pick<DemoRecord, 'source' | 'keyId' | 'agentId' | 'subjectId'>;

function buildModelCall(caller: Caller, at: string, random: Random): DemoRecord {
  const model = MODELS[random() < 0.7 ? 1 : 0];
  const inputTokens = 500 + Math.floor(random() * 12_000);
  const cachedInputTokens = Math.floor(inputTokens * random() * 0.6);
  const outputTokens = 50 + Math.floor(random() * 900);
  const priced = (inputTokens - cachedInputTokens) * model.input + cachedInputTokens * model.cached;
  return {
    at,
    ...caller,
    kind: 'model',
    name: model.name,
    calls: 1,
    failures: random() < FAILURE_SHARE ? 1 : 0,
    inputTokens,
    cachedInputTokens,
    outputTokens,
    toolCalls: 0,
    sandboxMs: 0,
    costUsd: (priced + outputTokens * model.output) / 1_000_000,
    latencyMs: Math.round(model.latencyMs * (0.4 + random() * 1.6)),
  };
}

function buildToolCall(caller: Caller, at: string, random: Random): DemoRecord {
  const ms = 50 + Math.floor(random() * 4000);
  const none = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 };
  return {
    at,
    ...caller,
    kind: 'tool',
    name: 'terminal',
    calls: 0,
    failures: random() < FAILURE_SHARE ? 1 : 0,
    ...none,
    toolCalls: 1,
    sandboxMs: ms,
    latencyMs: ms,
  };
}

/** Weekends are quiet, and subjects differ in how much they do. */
function countCalls(day: Date, weight: number, random: Random): number {
  const isWeekend = day.getUTCDay() === 0 || day.getUTCDay() === 6;
  return Math.round(MAX_CALLS * weight * (isWeekend ? 0.25 : 1) * (0.5 + random()));
}

/** Usage of the 30 whole UTC days before `now`: of the subjects through agents, and of the key through the gateway. */
export function buildDemoUsage(subjects: readonly DemoSubject[], keyId: string, now: Date): DemoRecord[] {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const callers: Caller[] = [
    ...subjects.map((subject): Caller => ({ source: 'agents', keyId: '', ...subject })),
    { source: 'gateway', keyId, agentId: '', subjectId: '' },
  ];
  return callers.flatMap((caller, index) => {
    const random = buildRandom(index + 1);
    const weight = 0.3 + random();
    return Array.from({ length: DEMO_DAYS }, (_, number) => new Date(today - (DEMO_DAYS - number) * DAY_MS)).flatMap(
      (day) =>
        Array.from({ length: countCalls(day, weight, random) }, () => {
          const at = new Date(day.getTime() + (7 + Math.floor(random() * 12)) * HOUR_MS).toISOString();
          const call = buildModelCall(caller, at, random);
          return caller.source === 'agents' && random() < 0.6 ? [call, buildToolCall(caller, at, random)] : [call];
        }).flat(),
    );
  });
}
