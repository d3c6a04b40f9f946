// Tests: test/agents/loop/tool-calls/unsent.test.ts
import { setImmediate as nextTick } from 'node:timers/promises';
import { SANDBOX_TOOLSETS } from '../../contract/toolsets.ts';
import type { OpenStep } from '../../log/event.ts';
import type { ToolRunDeps } from '../turn/types.ts';
import type { RunnableCall } from './order.ts';

type OpenSandbox = ToolRunDeps['openSandbox'];

/** How the calls of a batch get their sandbox. */
export type BatchSandbox = {
  /** the step to store with the uses of the batch: names the calls that wait for a sandbox to start */
  announced: OpenStep;
  /**
   * Opens the sandbox. `store` saves a step in which the calls are sent; it ends before the first call can be sent, so
   * that a worker which takes over never repeats a call that a sandbox has received.
   */
  build(store: (step: OpenStep) => Promise<void>): OpenSandbox;
};

/**
 * Starts the sandbox of a batch before its uses are stored. Calls whose sandbox is not there at once are stored as
 * unsent: if this worker is lost meanwhile, the next one runs them. A running sandbox costs no write.
 */
export async function startBatchSandbox(
  batch: readonly RunnableCall[],
  step: OpenStep,
  { openSandbox, signal }: Pick<ToolRunDeps, 'openSandbox' | 'signal'>,
): Promise<BatchSandbox> {
  const ids = batch.filter(isSentOnce).map(({ call }) => call.useId);
  const sent = withUnsent(
    step,
    (step.unsent ?? []).filter((id) => !ids.includes(id)),
  );
  if (ids.length === 0) return { announced: sent, build: () => openSandbox };
  const opening = openSandbox(signal);
  const isOpen = opening.then(
    () => true,
    () => false,
  );
  // Calls that are stored as unsent have to be stored as sent, however fast the sandbox is there.
  const isStored = ids.some((id) => step.unsent?.includes(id) === true);
  if (!isStored && (await Promise.race([isOpen, nextTick(false)])))
    return { announced: sent, build: () => () => opening };
  return {
    announced: withUnsent(step, [...(sent.unsent ?? []), ...ids]),
    build(store) {
      let stored: Promise<void> | undefined;
      return async () => {
        const sandbox = await opening;
        await (stored ??= store(sent));
        return sandbox;
      };
    },
  };
}

/** Whether the call starts here and must not be repeated once a sandbox has received it. */
function isSentOnce({ plan }: RunnableCall): boolean {
  const { toolset, tool, resume } = plan;
  return SANDBOX_TOOLSETS.some((name) => name === toolset) && !tool.readOnly && resume !== true;
}

function withUnsent({ number, calls }: OpenStep, unsent: string[]): OpenStep {
  return { number, calls, ...(unsent.length === 0 ? {} : { unsent }) };
}
