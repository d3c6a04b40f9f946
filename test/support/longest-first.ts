import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take minutes, the longest first: started last, a single one would delay the end of the run. */
const LONG = [
  'flow/crash.test.ts',
  'flow/crash-takeover.test.ts',
  'flow/crash-shared.test.ts',
  'video/crash.test.ts',
  'worker/automations/crash.test.ts',
  'flow/outages.test.ts',
  'flow/big-attachments.test.ts',
  'video/engines/storyboard.test.ts',
  'flow/goal-crash.test.ts',
];

/** The order of a run's files, which a machine that has never run them would guess from their sizes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}`));
      return found === -1 ? LONG.length : found;
    };
    return (await super.sort(files)).toSorted((left, right) => place(left) - place(right));
  }
}
