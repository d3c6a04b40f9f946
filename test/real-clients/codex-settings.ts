import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = readFileSync(new URL('../../docs/clients/codex.md', import.meta.url), 'utf8');

/** The examples of the page in a language, for this model and this gateway. */
function readExamples(language: 'toml' | 'json', model: string, url: string): string[] {
  return [...PAGE.matchAll(new RegExp(`\\n\`\`\`${language}\\n(.*?)\\n\`\`\``, 'gs'))].map((match) =>
    (match[1] ?? '').replaceAll('acme/large', model).replaceAll('http://127.0.0.1:8080', url),
  );
}

export type CodexSetup = {
  /** the folder of its settings */
  home: string;
  /** of the gateway */
  url: string;
  model: string;
  facts: 'with facts' | 'without facts';
};

/** Sets Codex CLI up as in the docs, with or without the model's properties. */
export function writeCodexSettings({ home, url, model, facts }: CodexSetup): void {
  const catalog = join(home, 'models.json');
  const [settings = '', offline = ''] = readExamples('toml', model, url);
  const named = facts === 'with facts' ? `model_catalog_json = "${catalog}"` : '';
  writeFileSync(join(home, 'config.toml'), [named, offline, settings].join('\n'));
  writeFileSync(catalog, readExamples('json', model, url).join('\n'));
}
