// Runs inside pages: bundled (`../bundle.ts`) and run in every document before the document's own scripts.
import type { FrameDescription } from '../description.ts';
import { describeFrame, findNumbered } from './describe.ts';
import { addRoot, watchRoots } from './roots.ts';
import { resetMeasurements, findUnseen } from './visibility.ts';

/** Old libraries add a `toJSON` to arrays and objects that encodes them twice. */
function canWrite(): boolean {
  return !('toJSON' in Array.prototype) && !('toJSON' in Object.prototype);
}

const page = {
  /** As JSON text where that is safe: a long description is transferred many times as fast. */
  describeFrame(frame: string): FrameDescription | string {
    const description = describeFrame(frame);
    return canWrite() ? JSON.stringify(description) : description;
  },
  findNumbered,
  addRoot,
  findUnseen(element: Element) {
    resetMeasurements();
    return findUnseen(element);
  },
};

const KEY = Symbol.for('capstan.detection');
if (!(KEY in globalThis)) {
  Object.defineProperty(globalThis, KEY, { value: Object.freeze(page), enumerable: false });
  watchRoots();
}
