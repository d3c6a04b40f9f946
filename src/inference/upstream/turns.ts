/** Consecutive messages of one role. */
export type Turn<Role, Part> = { role: Role; content: Part[] };

/** Drops empty turns and merges neighbours of one role. */
export function joinTurns<Role, Part>(turns: Iterable<Turn<Role, Part>>): Turn<Role, Part>[] {
  const joined: Turn<Role, Part>[] = [];
  for (const { role, content } of turns) {
    if (content.length === 0) continue;
    const last = joined.at(-1);
    if (last?.role === role) last.content.push(...content);
    else joined.push({ role, content: [...content] });
  }
  return joined;
}
