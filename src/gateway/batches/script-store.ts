import { randomUUID } from 'node:crypto';

/** Files and finished batches of `script` models, for tests and first steps. They exist only in this process. */
export type ScriptObject = { body: Record<string, unknown>; content?: Uint8Array; results?: string };

const MAX_OBJECTS = 500;
const MAX_BYTES = 64 * 1024 * 1024;

export class ScriptStore {
  readonly #objects = new Map<string, ScriptObject>();
  #bytes = 0;

  #sizeOf({ content, results = '' }: ScriptObject): number {
    return (content?.length ?? 0) + results.length;
  }

  /** Evicts the oldest objects. */
  add(prefix: string, build: (id: string) => ScriptObject): ScriptObject {
    const id = `${prefix}${randomUUID().replaceAll('-', '')}`;
    const object = build(id);
    this.#objects.set(id, object);
    this.#bytes += this.#sizeOf(object);
    for (const oldest of this.#objects.keys()) {
      if (this.#objects.size <= MAX_OBJECTS && this.#bytes <= MAX_BYTES) break;
      if (oldest !== id) this.delete(oldest);
      else break;
    }
    return object;
  }

  get(id: string): ScriptObject | undefined {
    return this.#objects.get(id);
  }

  delete(id: string): void {
    const object = this.#objects.get(id);
    if (object !== undefined) this.#bytes -= this.#sizeOf(object);
    this.#objects.delete(id);
  }
}
