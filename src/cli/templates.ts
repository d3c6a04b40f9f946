import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { z } from 'zod';
import { describeIssues } from '../platform/contract/validation.ts';
import { TemplateApply } from '../video/contract/catalog.ts';
import type { Template } from '../video/contract/catalog.ts';
import { checkNames } from './check-body.ts';
import { buildContext } from './context.ts';
import { CliError } from './cli-error.ts';
import { buildTable } from './text.ts';

const TEMPLATES = z.array(TemplateApply).min(1);

/** A list of templates, YAML or JSON; `-` is standard input. */
function readTemplates(file: string): TemplateApply[] {
  let document: unknown;
  try {
    document = parse(readFileSync(file === '-' ? 0 : file, 'utf8'));
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = TEMPLATES.safeParse(document);
  if (!parsed.success) throw new CliError(`${file}: ${describeIssues(parsed.error, 'the file')}`, 2);
  checkNames(TEMPLATES, document, file);
  return parsed.data;
}

export function addTemplateCommands(program: Command): void {
  const templates = program.command('templates').description('templates for videos');

  templates
    .command('apply')
    .description('make templates, or replace those with the same id')
    .requiredOption('-f, --file <path>', 'a list of { id?, title, description?, kind, modelName, featured? } in YAML')
    .action(async (flags: { file: string }, command: Command) => {
      const wanted = readTemplates(flags.file);
      const context = buildContext(command);
      const applied: Template[] = [];
      for (const template of wanted) applied.push((await context.client.applyTemplate(template)).data);
      context.show(applied, () =>
        buildTable(
          ['ID', 'KIND', 'MODEL', 'TITLE'],
          applied.map(({ id, kind, model_name: model, title }) => [id, kind, model, title]),
        ),
      );
    });
}
