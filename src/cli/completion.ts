import { Argument } from 'commander';
import type { Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

function listNames(command: Command): string[] {
  return command.commands.map((child) => child.name());
}

function listOptions(command: Command): string[] {
  return command.options.flatMap((option) => option.long ?? []);
}

function buildBash(program: Command): string {
  const cases = program.commands.map((group) => {
    const words = [...listNames(group), ...listOptions(group)];
    return `    ${group.name()}) words="${words.join(' ')}";;`;
  });
  return `_capstan() {
  local words="${[...listNames(program), ...listOptions(program)].join(' ')}"
  [ "$COMP_CWORD" -gt 1 ] && case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="";;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _capstan capstan
`;
}

function buildFish(program: Command): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
  const lines = program.commands.flatMap((group) => [
    `complete -c capstan -n __fish_use_subcommand -a ${group.name()} -d ${quote(group.description())}`,
    ...group.commands.map(
      (child) =>
        `complete -c capstan -n '__fish_seen_subcommand_from ${group.name()}' -a ${child.name()} -d ${quote(child.description())}`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a completion script, for example: source <(capstan completion bash)')
    .addArgument(new Argument('<shell>', SHELLS.join(', ')).choices(SHELLS))
    .action((shell: Shell) => {
      const bash = buildBash(program);
      const zsh = `autoload -U +X bashcompinit && bashcompinit\n${bash}`;
      process.stdout.write({ bash, zsh, fish: buildFish(program) }[shell]);
    });
}
