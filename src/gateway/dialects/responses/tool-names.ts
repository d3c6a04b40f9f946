import { createHash } from 'node:crypto';

/** A tool as the caller declared it; `flat` is the function that stands for it upstream. */
export type DeclaredTool = { flat: string; name: string; namespace: string | undefined; custom: boolean };

/** Function names that every upstream accepts. */
const LEGAL = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_LENGTH = 64;

/**
 * The name of a tool's function upstream. It is stable, so the history uses the same names as the declarations and the
 * upstream's cache stays valid. A name that is too long or has other characters is cut and gets a digest.
 */
export function flattenName(name: string, namespace: string | undefined): string {
  const joined = namespace === undefined ? name : `${namespace}__${name}`;
  if (LEGAL.test(joined)) return joined;
  const digest = createHash('sha256')
    .update(JSON.stringify([namespace ?? null, name]))
    .digest('hex')
    .slice(0, 10);
  return `${joined.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_LENGTH - 11)}_${digest}`;
}

/** Maps the tools of one request to their names upstream, and back. */
export type ToolNames = {
  add(tool: { name: string; namespace: string | undefined; custom: boolean }): DeclaredTool;
  /** whether the tool has been added */
  has(name: string, namespace: string | undefined): boolean;
  /** Also works for tools of the history that are no longer declared. */
  flatten(name: string, namespace: string | undefined): string;
  /** the declared tool; a plain function of that name if none was declared */
  restore(flat: string): DeclaredTool;
};

export function buildToolNames(): ToolNames {
  const byFlat = new Map<string, DeclaredTool>();
  const byTool = new Map<string, DeclaredTool>();
  const keyOf = (name: string, namespace: string | undefined) => JSON.stringify([namespace ?? null, name]);
  return {
    add({ name, namespace, custom }) {
      let flat = flattenName(name, namespace);
      // `a` in the namespace `b` and a plain `b__a` have the same flat name.
      for (let copy = 2; byFlat.has(flat); copy += 1) flat = flattenName(`${name} ${copy}`, namespace);
      const tool = { flat, name, namespace, custom };
      byFlat.set(flat, tool);
      byTool.set(keyOf(name, namespace), tool);
      return tool;
    },
    has: (name, namespace) => byTool.has(keyOf(name, namespace)),
    flatten: (name, namespace) => byTool.get(keyOf(name, namespace))?.flat ?? flattenName(name, namespace),
    restore: (flat) => byFlat.get(flat) ?? { flat, name: flat, namespace: undefined, custom: false },
  };
}
