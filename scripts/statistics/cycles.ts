import { join, dirname } from 'node:path';

const IMPORT = /^(?:import|export)\b[^'"]*?\bfrom '(\.[^']+)'|^import '(\.[^']+)'/gm;

/** Imports of each file among the given ones, type imports included. */
function buildGraph(sources: ReadonlyMap<string, string>): Map<string, string[]> {
  return new Map(
    [...sources].map(([file, text]) => {
      const targets = [...text.matchAll(IMPORT)].map((match) => join(dirname(file), match[1] ?? match[2] ?? ''));
      return [file, targets.filter((target) => sources.has(target))];
    }),
  );
}

/** Groups of files that import each other, directly or through others: the strongly connected components (Tarjan). */
export function findCycles(sources: ReadonlyMap<string, string>): string[][] {
  const graph = buildGraph(sources);
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const cycles: string[][] = [];

  const lower = (file: string, value: number) => lowest.set(file, Math.min(lowest.get(file) ?? value, value));
  const visit = (file: string): void => {
    order.set(file, order.size);
    lower(file, order.get(file) ?? 0);
    stack.push(file);
    open.add(file);
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target)) visit(target);
      if (open.has(target)) lower(file, lowest.get(target) ?? 0);
    }
    if (lowest.get(file) !== order.get(file)) return;
    const component = stack.splice(stack.indexOf(file));
    for (const member of component) open.delete(member);
    if (component.length > 1) cycles.push(component);
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}
