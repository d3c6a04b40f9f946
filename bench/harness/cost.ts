import type { RecordedRequest, ScriptedAnswer } from '../../test/support/model-server/server.ts';
import type { Answer } from '../../test/support/service-model.ts';

/** What the model calls of a scenario cost. */
export type Cost = { calls: number; input: number; output: number };

const toTokens = (bytes: number): number => Math.ceil(bytes / 4);

/** The same answer, with counted tokens and a provider's usage report. */
export function count(answer: Answer, cost: Cost): (request: RecordedRequest) => Promise<ScriptedAnswer> {
  return async (request) => {
    const given = typeof answer === 'function' ? await answer(request) : answer;
    const input = toTokens(JSON.stringify(request.body).length);
    const output = given.reply === undefined ? 0 : toTokens(JSON.stringify(given.reply.content).length);
    cost.calls += 1;
    cost.input += input;
    cost.output += output;
    if (given.reply === undefined) return given;
    return { ...given, reply: { ...given.reply, usage: { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 } } };
  };
}
