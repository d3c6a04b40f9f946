import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { UPSTREAMS, UPSTREAM_FORMATS, shareGateway } from '../gateway/harness.ts';
import { scriptLoop } from '../gateway/tool-loop.ts';
import type { Script } from '../support/model-server/server.ts';
import { readConversation } from './scripted-model.ts';

const gateway = shareGateway();
const ENVIRONMENTS = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'capstan/python-clients');
const SCRIPTS = fileURLToPath(new URL('python/', import.meta.url));
const ANSWER = '{"city":"Ulm","sunny":true}';

/** Environments of `scripts/install-python-clients.sh`; `run_<name>.py` has the helpers of its clients. */
const NAMES = ['sdks', 'agents', 'litellm', 'langchain', 'pydantic-ai', 'instructor'] as const;

type Cell = { client: string; helper: string; error: string | null };
const matrix = new Map<string, Map<string, string>>();

/** Tools for the structure of the answer are called with it; without tools it is the text. */
const answerStructured: Script = (request) => {
  const [tool] = readConversation(request).tools;
  if (tool === undefined) {
    return {
      reply: {
        content: [
          { type: 'reasoning', text: 'Look.' },
          { type: 'text', text: ANSWER },
        ],
      },
    };
  }
  return { reply: { content: [{ type: 'tool_call', id: 'call_s', name: tool, arguments: ANSWER }] } };
};

function scriptModel(): void {
  let loop: Script = () => ({});
  scriptLoop({ ...gateway, upstream: { ...gateway.upstream, script: (script) => void (loop = script) } }, false);
  gateway.upstream.script((request, number) =>
    readConversation(request).tools.includes('weather') ? loop(request, number) : answerStructured(request, number),
  );
}

async function runCells(name: (typeof NAMES)[number], model: string): Promise<Cell[]> {
  const python = join(ENVIRONMENTS, name, 'bin/python');
  if (!existsSync(python)) throw new Error(`${name} is not installed: run \`make test-client-matrix\``);
  const child = spawn(python, [`run_${name.replaceAll('-', '_')}.py`], {
    cwd: SCRIPTS,
    env: {
      PATH: '/usr/bin:/bin',
      HOME: ENVIRONMENTS,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUTF8: '1',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      OPENAI_API_KEY: gateway.key,
      GATEWAY_URL: gateway.url,
      GATEWAY_KEY: gateway.key,
      GATEWAY_MODEL: model,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  if (exitCode !== 0) throw new Error(`run_${name} ended with ${exitCode}: ${stderr}`);
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"client"'))
    .map((line) => JSON.parse(line) as Cell);
}

describe.each(NAMES)('Python: %s', (name) => {
  it.each(UPSTREAM_FORMATS)('works over a %s upstream', async (format) => {
    scriptModel();
    const cells = await runCells(name, UPSTREAMS[format]);
    for (const { client, helper, error } of cells) {
      const row = matrix.get(`${client} · ${helper}`) ?? new Map<string, string>();
      matrix.set(`${client} · ${helper}`, row.set(format, error === null ? 'ok' : 'FAILED'));
    }
    expect(cells.length).toBeGreaterThan(5);
    expect(cells.filter(({ error }) => error !== null)).toEqual([]);
  });
});

afterAll(() => {
  const width = Math.max(...[...matrix.keys()].map((row) => row.length));
  const lines = [...matrix].map(([row, cells]) => {
    const columns = UPSTREAM_FORMATS.map((format) => (cells.get(format) ?? '-').padEnd(format.length));
    return `${row.padEnd(width)}  ${columns.join('  ')}`;
  });
  process.stdout.write(
    `${[`${'client · helper'.padEnd(width)}  ${UPSTREAM_FORMATS.join('  ')}`, ...lines].join('\n')}\n`,
  );
});
