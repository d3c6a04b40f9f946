// What runs inside pages. It is bundled (`../bundle.ts`) and put into every document before the document's own code.
import type { FrameDescription } from '../description.ts';
import { describeFrame, findNumbered } from './describe.ts';
import { addRoot, watchRoots } from './roots.ts';
import { resetMeasurements, findUnseen } from './visibility.ts';

/** Old libraries give arrays and objects a `toJSON` that writes them twice. */
function canWrite(): boolean {
  return !('toJSON' in Array.prototype) && !('toJSON' in Object.prototype);
}

const page = {
  /** As text where that is safe: a long description leaves the page many times as fast. */
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
