import { createInterface } from 'node:readline/promises';
import { CliError } from './cli-error.ts';
import { cleanText } from './text.ts';

/**
 * Asks on a terminal before something is lost; `--yes` and scripts are not asked. Throws a `CliError` for any answer but
 * yes.
 */
export async function confirmLoss(
  question: string,
  options: { yes?: boolean | undefined; json: boolean },
): Promise<void> {
  const asks = process.stdin.isTTY && process.stdout.isTTY;
  if (options.yes === true || options.json || !asks) return;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await reader.question(`${cleanText(question)} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was changed.');
  } finally {
    reader.close();
  }
}
