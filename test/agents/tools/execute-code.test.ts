import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildExecuteCode, executeCodeTool } from '../../../src/agents/tools/execute-code.ts';
import { SCRIPT_TOOLS, buildStubFiles, describeStubs } from '../../../src/agents/tools/execute-code/stubs.ts';
import { buildModelTools } from '../../../src/agents/loop/tool-calls/toolbox.ts';
import { buildTools } from '../../../src/agents/tools/builtin-tools.ts';
import type { ScriptCalls } from '../../../src/agents/tools/tool.ts';
import { openToolSession } from '../../support/tools.ts';

let session: Awaited<ReturnType<typeof openToolSession>>;
beforeAll(async () => {
  session = await openToolSession();
});
afterAll(() => session.close());

type Seen = [name: string, args: Record<string, unknown>];

/** Tools that return their input. */
function buildCalls(names: readonly string[] = SCRIPT_TOOLS): { scriptCalls: ScriptCalls; seen: Seen[] } {
  const seen: Seen[] = [];
  const run: ScriptCalls['run'] = async (name, args) => {
    seen.push([name, args]);
    return { content: JSON.stringify({ name, args }), ran: true };
  };
  return { scriptCalls: { names, run }, seen };
}

const execute = (code: string, scriptCalls = buildCalls().scriptCalls, over = {}) =>
  session.call('execute_code', { code }, { scriptCalls, ...over });

describe('execute_code', () => {
  it('returns the output of the script, without the results of its calls', async () => {
    const { scriptCalls, seen } = buildCalls();
    const { value, isError } = await execute(
      'from capstan_tools import terminal\nanswer = terminal("ls", timeout=5)\nprint(answer["name"], 2 + 2)',
      scriptCalls,
    );
    expect(value).toEqual({
      status: 'success',
      output: 'terminal 4\n',
      tool_calls_made: 1,
      duration_seconds: expect.any(Number) as number,
    });
    expect(isError).toBe(false);
    expect(seen).toEqual([['terminal', { command: 'ls', timeout: 5 }]]);
  });

  it('has a function for every tool, by both names of the module', async () => {
    const { scriptCalls, seen } = buildCalls();
    const { value } = await execute(
      `
import hermes_tools, capstan_tools
assert hermes_tools.patch is capstan_tools.patch
from hermes_tools import *
web_search("q")
web_extract(["u"])
read_file("a", offset=3)
write_file("a", "x")
search_files("p", file_glob="*.py")
patch("a", "x", "y", replace_all=True)
patch(mode="patch", patch="*** Begin Patch")
terminal("true", workdir="/tmp")
print(json_parse('{"a": "line\\nbreak"} and more')["a"], shell_quote("a b"))
`,
      scriptCalls,
    );
    expect(value).toMatchObject({ status: 'success', output: "line\nbreak 'a b'\n", tool_calls_made: 8 });
    expect(seen).toEqual([
      ['web_search', { query: 'q', limit: 5 }],
      ['web_extract', { urls: ['u'] }],
      ['read_file', { path: 'a', offset: 3, limit: 500 }],
      ['write_file', { path: 'a', content: 'x' }],
      [
        'search_files',
        {
          pattern: 'p',
          target: 'content',
          path: '.',
          file_glob: '*.py',
          limit: 50,
          offset: 0,
          output_mode: 'content',
          context: 0,
        },
      ],
      ['patch', { path: 'a', old_string: 'x', new_string: 'y', replace_all: true, mode: 'replace' }],
      ['patch', { replace_all: false, mode: 'patch', patch: '*** Begin Patch' }],
      ['terminal', { command: 'true', workdir: '/tmp' }],
    ]);
  });

  it('has no function for a tool that is not enabled, and says so', async () => {
    const { value } = await execute(
      'from capstan_tools import read_file, terminal',
      buildCalls(['read_file']).scriptCalls,
    );
    expect(value).toMatchObject({ status: 'error', tool_calls_made: 0 });
    expect(value['output']).toContain('ImportError: the tool terminal is not enabled in this session');
  });

  it('retries with growing pauses and gives up at the last attempt', async () => {
    const { value } = await execute(`
from capstan_tools import retry
tries = []
def fail():
    tries.append(1)
    if len(tries) < 3: raise ValueError("no")
    return "third"
print(retry(fail, max_attempts=3, delay=0.01))
try:
    retry(lambda: 1 / 0, max_attempts=2, delay=0.01)
except ZeroDivisionError:
    print("given up")
`);
    expect(value['output']).toBe('third\ngiven up\n');
  });

  it('tells of a failure with the traceback under a marker', async () => {
    const { value, isError } = await execute('print("so far")\nraise ValueError("wrong")');
    expect(value).toMatchObject({ status: 'error', error: 'The script ended with exit code 1.' });
    expect(value['output']).toMatch(/^so far\n--- stderr ---\nTraceback[^]*line 2[^]*ValueError: wrong\n$/);
    expect(isError).toBe(true);
  });

  it('stops a script that takes too long', async () => {
    const tool = buildExecuteCode({ timeoutMs: 8000, maxCalls: 50 });
    const { value, isError } = await session.call(tool, { code: 'print("begun")\nwhile True: pass' });
    expect(value).toMatchObject({
      status: 'timeout',
      output: 'begun\n',
      error: 'The script was stopped after 8 s, the time that it may take.',
    });
    expect(isError).toBe(true);
  });

  it('takes 50 calls', async () => {
    const { scriptCalls, seen } = buildCalls();
    const { value } = await execute(
      'from capstan_tools import terminal\nfor n in range(53): answer = terminal("true")\nprint(answer)',
      scriptCalls,
    );
    expect(value).toMatchObject({
      status: 'success',
      output: "{'error': 'A script may make 50 tool calls at most.'}\n",
      tool_calls_made: 50,
    });
    expect(seen).toHaveLength(50);
  });

  it('answers threads and forked children', async () => {
    const { value } = await execute(`
import os
from concurrent.futures import ThreadPoolExecutor
from capstan_tools import terminal
with ThreadPoolExecutor(20) as pool:
    answers = list(pool.map(lambda n: terminal(str(n))["args"]["command"], range(20)))
print(answers == [str(n) for n in range(20)])
child = os.fork()
if child == 0:
    print(terminal("child")["args"]["command"], flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(terminal("parent")["args"]["command"])
`);
    expect(value['output']).toBe('True\nchild\nparent\n');
  });

  it('runs in the directory of the terminal, and can import from there', async () => {
    await session.write('lib/mine.py', 'answer = 42\n');
    await session.call('terminal', { command: 'cd lib' });
    const { value } = await execute('import os, mine\nprint(os.path.basename(os.getcwd()), mine.answer)');
    expect(value['output']).toBe('lib 42\n');
    expect((await session.call('terminal', { command: 'ls; cd ..' })).value['output']).toBe('mine.py\n');
  });

  it('sees only the safe part of the environment', async () => {
    await session.shell('export MY_API_KEY=k HTTP_AUTH=a XDG_TOKEN=t LC_TIME=C VIRTUAL_ENV=/v SOMETHING=else');
    const { value } = await execute('import os\nprint(sorted(os.environ))');
    expect(value['output']).toMatch(/HOME.*LC_TIME.*PATH.*VIRTUAL_ENV/);
    expect(value['output']).not.toMatch(/KEY|AUTH|TOKEN|SOMETHING|CAPSTAN_STATE/);
  });

  it('strips a terminal call of all that would outlive it', async () => {
    const { scriptCalls, seen } = buildCalls();
    await execute(
      `import capstan_tools
capstan_tools._call("terminal", command="x", background=True, pty=True, notify_on_complete=True, watch_patterns=["y"])`,
      scriptCalls,
    );
    expect(seen).toEqual([['terminal', { command: 'x' }]]);
  });

  it('answers garbage on its socket with an error, and keeps running', async () => {
    const { scriptCalls, seen } = buildCalls();
    const { value } = await execute(
      `
import json, os, socket
link = socket.socket(socket.AF_UNIX)
link.connect(os.environ["CAPSTAN_SCRIPT"] + "/rpc")
stream = link.makefile("rwb")
for line in [b"", b"\\xff\\xfe", b"{", b"[]", b"null", b'{"tool": 1, "args": {}}', b'{"tool": "terminal", "args": []}', b'{"tool": "terminal"}']:
    stream.write(line + b"\\n"); stream.flush()
    print("error" in json.loads(stream.readline()))
stream.write(b'{"tool": "terminal", "args": {"command": "x"}, "session": "other"}\\n'); stream.flush()
print(json.loads(stream.readline())["args"])
`,
      scriptCalls,
    );
    expect(value['output']).toBe(`${'True\n'.repeat(8)}{'command': 'x'}\n`);
    expect(seen).toEqual([['terminal', { command: 'x' }]]);
  });

  it('gives results that are no JSON as text, and JSON without the hint after it', async () => {
    const contents = ['plain', '{"total_count": 7}\n\n[Showing 1-5 of 7.]'];
    const run: ScriptCalls['run'] = async () => ({ content: contents.shift() ?? '', ran: true });
    const { value } = await execute(
      'from capstan_tools import terminal\nprint(terminal("a"), terminal("b")["total_count"])',
      { names: ['terminal'], run },
    );
    expect(value['output']).toBe('plain 7\n');
  });

  it('reports missing Python', async () => {
    await session.shell(
      'mkdir /tmp/few && ln -s "$(command -v mv)" /tmp/few/ && export KEPT_PATH="$PATH" PATH=/tmp/few',
    );
    const { value, isError } = await execute('print(1)');
    expect(value).toMatchObject({
      status: 'error',
      output: '',
      error: expect.stringContaining('python3 is not installed') as string,
    });
    expect(isError).toBe(true);
    await session.shell('export PATH="$KEPT_PATH"; unset KEPT_PATH');
    expect((await execute('print(1)')).value['status']).toBe('success');
  });

  it('refuses an empty script', async () => {
    expect((await execute('  \n')).isError).toBe(true);
  });

  it('ends with an interrupt, though it ignores signals, and so do its calls', async () => {
    const abort = new AbortController();
    let ended = false;
    const run: ScriptCalls['run'] = (_name, _args, _id, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          ended = true;
          reject(signal.reason as Error);
        });
        abort.abort(new Error('stop'));
      });
    const code =
      'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nfrom capstan_tools import terminal\nterminal("x")';
    const { value } = await execute(code, { names: ['terminal'], run }, { signal: abort.signal });
    expect(value).toMatchObject({ status: 'interrupted' });
    expect(ended).toBe(true);
  });
});

describe('text for the model', () => {
  const tools = new Map(buildTools().map((tool) => [tool.name, tool]));
  const describeWith = (...configs: object[]) => {
    const config = { type: 'agent_toolset' as const, defaultConfig: { enabled: true }, configs } as never;
    return buildModelTools([config], tools).find(({ name }) => name === 'execute_code')?.description ?? '';
  };

  it('names the tools that are enabled, and no others', () => {
    expect(describeWith()).toMatch(/read_file\(.*terminal\(/s);
    const text = describeWith({ name: 'terminal', enabled: false });
    expect(text).toMatch(/read_file\(/);
    expect(text).not.toMatch(/terminal\(/);
    expect(describeWith({ name: 'file', permissionPolicy: { type: 'always_deny' } })).not.toMatch(
      /read_file\(|patch\(/,
    );
  });

  it('does not speak of calls when there are none to make', () => {
    const off = ['terminal', 'file', 'web'].map((name) => ({ name, enabled: false }));
    expect(describeWith(...off)).not.toContain('capstan_tools');
    expect(executeCodeTool.description).not.toContain('capstan_tools');
  });

  it('has a line and a function for each tool', () => {
    for (const name of SCRIPT_TOOLS) {
      expect(describeStubs([name])).toMatch(new RegExp(`^${name}\\(.*\\) -> `));
      const module = buildStubFiles([name])['capstan_tools.py'] ?? '';
      const functions = [...module.matchAll(/^def ([a-z]\w*)/gm)].map((match) => match[1]);
      expect(functions).toEqual(['json_parse', 'shell_quote', 'retry', name]);
    }
  });
});
