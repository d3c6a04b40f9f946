const BACKGROUND = 'Run it with background=true instead, and follow it with the process tool.';

const SERVERS: RegExp[] = [
  /\b(npm|pnpm|yarn|bun)\s+(run\s+)?(dev|start|serve|watch)\b/,
  /\b(npx\s+)?(vite|next\s+dev|nuxt\s+dev|nodemon|http-server|webpack\s+serve|webpack-dev-server|live-server)\b/,
  /\bpython3?\s+-m\s+http\.server\b/,
  /\b(uvicorn|gunicorn|hypercorn|daphne)\b/,
  /\bflask\s+run\b/,
  /\bmanage\.py\s+runserver\b/,
  /\brails\s+(s|server)\b/,
  /\bphp\s+-S\b/,
  /\bdocker(-|\s+)compose\s+up\b(?!.*\s-d\b)/,
  /\btail\s+(-\w*\s+)*-\w*[fF]\b/,
];

/** Without what is quoted, escaped, a heredoc's body or a comment: none of it is the shell's to run. */
function stripQuoted(command: string): string {
  return command
    .replace(/<<-?\s*(['"]?)(\w+)\1([^\n]*)\n[\s\S]*?\n\s*\2[ \t]*(?=\n|$)/g, '$3')
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
    if (SERVERS.some((pattern) => pattern.exec(begin)?.index === 0)) {
      return `This command does not end by itself. ${BACKGROUND}`;
    }
  }
  return undefined;
}
