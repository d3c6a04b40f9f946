import { createHash } from 'node:crypto';

/** A tool as the caller declared it; `flat` is the function that stands for it upstream. */
export type DeclaredTool = { flat: string; name: string; namespace: string | undefined; custom: boolean };

/** What every upstream takes as the name of a function. */
const LEGAL = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_LENGTH = 64;

/**
 * The name of a function upstream: always the same for the same tool, so that the history's names are the declarations'
 * and the upstream's cache holds. What does not fit is cut, and a digest keeps it apart from others.
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

/** The tools of one request by their names upstream, and back. */
export type ToolNames = {
  add(tool: { name: string; namespace: string | undefined; custom: boolean }): DeclaredTool;
  /** whether this very tool has been added */
  has(name: string, namespace: string | undefined): boolean;
  /** Also for tools of the history that are no longer declared. */
  flatten(name: string, namespace: string | undefined): string;
  /** what the caller declared; a function of its own name where nobody did */
  restore(flat: string): DeclaredTool;
};

export function buildToolNames(): ToolNames {
  const byFlat = new Map<string, DeclaredTool>();
  const byTool = new Map<string, DeclaredTool>();
  const keyOf = (name: string, namespace: string | undefined) => JSON.stringify([namespace ?? null, name]);
  return {
    add({ name, namespace, custom }) {
      let flat = flattenName(name, namespace);
      // `a` in the namespace `b` and a plain `b__a` would be one.
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
