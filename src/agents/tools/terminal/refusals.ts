const BACKGROUND = 'Run it with background=true instead, and follow it with the process tool.';

const SERVERS: RegExp[] = [
  /^(npm|pnpm|yarn|bun)\s+(run\s+)?(dev|start|serve|watch)\b/,
  /^(npx\s+)?(vite|next\s+dev|nuxt\s+dev|nodemon|http-server|webpack\s+serve|webpack-dev-server|live-server)\b/,
  /^python3?\s+-m\s+http\.server\b/,
  /^(uvicorn|gunicorn|hypercorn|daphne)\b/,
  /^flask\s+run\b/,
  /^manage\.py\s+runserver\b/,
  /^rails\s+(s|server)\b/,
  /^php\s+-S\b/,
  /^docker(-|\s+)compose\s+up\b(?!.*\s-d\b)/,
  /^tail\s+(-\w*\s+)*-\w*[fF]\b/,
];
/** At the beginning of what is left of a line: `<<'EOF'`. */
const HEREDOC = /<<-?[ \t]*(['"]?)(\w+)\1(?!\w)/;

/** Without the bodies of heredocs and their ends. One pattern for them would read the rest of the text at each `<<`. */
function stripHeredocs(command: string): string {
  const lines = command.split('\n');
  const kept: string[] = [];
  // The last first, so that the next one is taken from the end.
  const ends = Map.groupBy([...lines.keys()].toReversed(), (index) => lines[index]?.trim() ?? '');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const found = HEREDOC.exec(line);
    const candidates = found === null ? [] : (ends.get(found[2] ?? '') ?? []);
    while ((candidates.at(-1) ?? Infinity) <= at) candidates.pop();
    const end = candidates.at(-1);
    if (found === null || end === undefined) {
      kept.push(line);
      continue;
    }
    kept.push(line.slice(0, found.index) + line.slice(found.index + found[0].length));
    at = end;
  }
  return kept.join('\n');
}

/** Removes quoted and escaped text, heredoc bodies and comments, which the shell does not execute. */
function stripQuoted(command: string): string {
  return stripHeredocs(command)
    .replace(/\\[\s\S]/g, '')
    .replace(/'[^']*'|"[^"]*"/g, "''")
    .replace(/(^|\s)#[^\n]*/g, '$1');
}

/** Commands of a line, each with the words before it cut off at a pipe, `;`, `&&` or newline. */
function splitCommands(command: string): string[] {
  return command.split(/&&|\|\||[|;\n()]/).map((part) => part.trim());
}

/** Why a command does not belong in the foreground, with what to do instead; undefined when it does. */
export function refuseForeground(command: string): string | undefined {
  const bare = stripQuoted(command);
  // `&&`, `>&`, `&>`, `|&` and `2>&1` put nothing into the background
  if (/(?<![&><|])&(?![&>])/.test(bare)) return `A foreground command must not use "&". ${BACKGROUND}`;
  for (const part of splitCommands(bare)) {
    if (/\s(--help|--version|-h|-V)(\s|$)/.test(part)) continue;
    if (/^(\w+=\S*\s+)*(nohup|setsid|disown)\b/.test(part)) {
      return `A foreground command must not detach itself (nohup, setsid, disown). ${BACKGROUND}`;
    }
    const begin = part.replace(/^(\w+=\S*\s+|(env|exec|time|sudo|command)\s+)*/, '');
    if (SERVERS.some((pattern) => pattern.test(begin))) {
      return `This command does not end by itself. ${BACKGROUND}`;
    }
  }
  return undefined;
}
