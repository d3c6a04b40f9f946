import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allow, allowAll, customTool, interrupt, textOf, typesOf } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { startTestMcp } from '../support/mcp/server.ts';
import { callTool, readChat, say, toolNames } from '../support/service-model.ts';
import type { RecordedRequest } from '../support/model-server/server.ts';
import { buildArticlePage } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { redirectTo, send, sendJson, startSite } from '../support/site.ts';
import type { Site } from '../support/site.ts';

let service: Service;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  site.serve('/search', sendJson({ results: [{ url: `${site.url}/page`, title: 'A page', content: 'x' }] }));
  site.serve('/page', send('text/html', buildArticlePage(5)));
  site.serve('/away', redirectTo('http://169.254.169.254/latest/meta-data/'));
  service = await startService({ webSearch: { backend: 'searxng', baseUrl: site.url } });
});
afterAll(async () => {
  await service.close();
  site.close();
});

type Outcome = { status: string; output: string; tool_calls_made: number; error?: string };

const code = (text: string) => callTool('execute_code', { code: text });
const openChat = async (fields: object = { tools: allowAll }, session: object = {}) =>
  service.api.openChat(await service.api.createAgent(fields), session);

/** Makes the model send the script, and returns its result. */
async function runScript(chat: Chat, text: string): Promise<Outcome> {
  service.model.play(code(text), say('I see.'));
  expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  const result = (await chat.list()).findLast(({ type }) => type === 'agent.tool_result');
  return JSON.parse(textOf(result)) as Outcome;
}

function describesCode({ body }: RecordedRequest): string {
  const tools = (body['tools'] ?? []) as { function: { name: string; description: string } }[];
  return tools.find((tool) => tool.function.name === 'execute_code')?.function.description ?? '';
}

/** Sends arbitrary requests to the socket, without the module. */
const RAW = `
import json, os, socket
link = socket.socket(socket.AF_UNIX)
link.connect(os.environ["CAPSTAN_SCRIPT"] + "/rpc")
stream = link.makefile("rwb")
def ask(tool, more={}, **args):
    stream.write(json.dumps({"tool": tool, "args": args, **more}).encode() + b"\\n")
    stream.flush()
    return json.loads(stream.readline())
`;

const toolset = (...configs: object[]) => ({
  type: 'agent_toolset',
  defaultConfig: { enabled: true, permissionPolicy: { type: 'always_ask' } },
  configs,
});
const policy = (name: string, type: string) => ({ name, permissionPolicy: { type } });

describe('a script', () => {
  it('uses the tools of the session, and the model reads only its output', async () => {
    const chat = await openChat();
    const outcome = await runScript(
      chat,
      `
from capstan_tools import write_file, read_file, patch, search_files, terminal
write_file("numbers.txt", "head\\n" + "\\n".join(str(n) for n in range(100)))
print(read_file("numbers.txt", offset=3, limit=1)["content"])
print(read_file("numbers.txt", offset=3, limit=1)["content"])
print(patch("numbers.txt", "\\n42\\n", "\\nforty-two\\n")["success"])
for _ in range(5): found = search_files("forty", path="numbers.txt")
print(found["total_count"], found["matches"][0]["line"])
print(terminal("wc -l < numbers.txt; exit 3")["exit_code"])
`,
    );
    expect(outcome).toMatchObject({ status: 'success', tool_calls_made: 10 });
    expect(outcome.output).toBe('3|1\n3|1\nTrue\n1 44\n3\n');
    const events = await chat.list();
    const [script, ...inner] = events.filter(({ type }) => type === 'agent.tool_use');
    const searches = Array.from({ length: 5 }, () => 'search_files');
    const names = ['write_file', 'read_file', 'read_file', 'patch', ...searches, 'terminal'];
    expect(script?.payload['name']).toBe('execute_code');
    expect(inner.map((use) => use.payload['name'])).toEqual(names);
    expect(new Set(inner.map(({ payload }) => payload['parent_tool_use_id']))).toEqual(new Set([script?.id]));
    const results = events.filter(({ type }) => type === 'agent.tool_result').map(({ payload }) => payload);
    expect(results.map((result) => result['tool_use_id'])).toEqual([...inner.map(({ id }) => id), script?.id]);
    const read = readChat(service.model.requests[1]!).filter((line) => line.startsWith('tool:'));
    expect(read).toHaveLength(1);
    expect(read[0]).not.toMatch(/bytes_written|forty-two|total_lines/);
    chat.close();
  });

  it('is on the web by its calls alone, behind their guard', async () => {
    const chat = await openChat();
    const outcome = await runScript(
      chat,
      `
import urllib.request
from capstan_tools import web_search, web_extract
url = web_search("page")["data"]["web"][0]["url"]
page, away = web_extract([url, "${site.url}/away"])["results"]
print("Paragraph 4 tells" in page["content"], away["blocked_by_policy"])
try:
    urllib.request.urlopen(url, timeout=10)
except OSError:
    print("no network")
`,
    );
    expect(outcome).toMatchObject({ status: 'success', output: 'True True\nno network\n', tool_calls_made: 2 });
    chat.close();
  });

  it('changes the terminal state like a command, and stores the model’s view separately', async () => {
    const chat = await openChat();
    service.model.play(
      callTool('write_file', { path: 'note.txt', content: 'hello\n' }),
      callTool('read_file', { path: 'note.txt' }),
      code('from hermes_tools import *\nprint(read_file("note.txt")["content"])\nterminal("mkdir -p sub && cd sub")'),
      callTool('terminal', { command: 'basename "$PWD"' }),
      say('Done.'),
    );
    await chat.run('Go.');
    const results = (await chat.list())
      .filter(({ type, payload }) => type === 'agent.tool_result' && payload['parent_tool_use_id'] === undefined)
      .map(textOf);
    expect(results[2]).toContain('1|hello');
    expect(results[3]).toContain('sub');
    chat.close();
  });

  it('asks for approval itself, as any other tool', async () => {
    const chat = await openChat({ tools: [toolset()] });
    service.model.play(code('print("ran")'), say('Done.'));
    await chat.prompt('Go.');
    const request = await chat.next('agent.approval_request');
    expect(request.payload).toMatchObject({ tool_name: 'execute_code', toolset: 'code_execution' });
    await chat.next('session.status_idle');
    await chat.send(allow(request.id));
    await chat.next('session.status_idle');
    expect(textOf((await chat.list()).find(({ type }) => type === 'agent.tool_result'))).toContain('ran');
    chat.close();
  });

  it('ends with an interrupt, and so does the call that it makes', async () => {
    const chat = await openChat();
    // of this run only: others may be running on this machine
    const [call, child] = [`sleep 98764.${process.pid}`, `sleep 98765.${process.pid}`];
    service.model.play(
      code(`
import subprocess
from capstan_tools import terminal
subprocess.Popen("exec ${child}", shell=True, start_new_session=True)
print(terminal("exec ${call}"))
`),
      say('Sorry.'),
    );
    await chat.prompt('Go.');
    await expect.poll(() => isRunning(call)).toBe(true);
    await chat.send(interrupt());
    expect((await chat.next('session.status_idle')).payload).toMatchObject({ interrupted: true });
    await expect.poll(() => isRunning(call) || isRunning(child)).toBe(false);
    const results = (await chat.list()).filter(({ type }) => type === 'agent.tool_result');
    expect(new Set(results.map(({ payload }) => payload['name']))).toEqual(new Set(['execute_code', 'terminal']));
    const script = results.find(({ payload }) => payload['name'] === 'execute_code');
    expect(textOf(script)).toContain('Interrupted by the user');
    chat.close();
  });
});

describe('a call of a script', () => {
  it('never exceeds the session’s permissions, however the call is made', async () => {
    const mcp = await startTestMcp();
    mcp.tools = { tools: [{ name: 'wipe', inputSchema: { type: 'object' } }] };
    const tools = [
      toolset(policy('code_execution', 'always_allow'), policy('web', 'always_deny'), {
        name: 'terminal',
        enabled: false,
      }),
      { type: 'mcp_toolset', mcpServerName: 'files', defaultConfig: { permissionPolicy: { type: 'always_allow' } } },
      customTool('lookup', 'always_allow'),
    ];
    const chat = await openChat({ tools, mcpServers: [{ type: 'url', name: 'files', url: mcp.url }] });
    const outcome = await runScript(
      chat,
      `${RAW}
import os
other = ${JSON.stringify('ses_other')}
asked = {
    "disabled": ask("terminal", command="touch /workspace/ran"),
    "denied": ask("web_search", query="x"),
    "asking": ask("write_file", path="ran", content="x"),
    "reading": ask("read_file", path="/etc/passwd"),
    "mcp": ask("files__wipe"),
    "custom": ask("lookup", id="1"),
    "other": ask("write_file", {"session": other, "sessionId": other, "callId": "x"}, path="ran", content="x"),
    "itself": ask("execute_code", code="print(1)"),
    "exempt": ask("todo"),
    "memory": ask("memory", action="add", target="memory", content="x"),
    "prototype": ask("__proto__"),
    "unknown": ask("run", command="touch ran"),
}
print([name for name, answer in asked.items() if "error" not in answer or len(answer) != 1])
print(os.path.exists("ran"), asked["asking"]["error"])
`,
    );
    mcp.close();
    expect(outcome).toMatchObject({ status: 'success', tool_calls_made: 0 });
    expect(outcome.output).toMatch(/^\[\]\nFalse .*needs an approval/);
    expect(mcp.asked.map(({ method }) => method)).not.toContain('tools/call');
    expect(toolNames(service.model.requests[0]!)).toContain('files__wipe');
    expect(typesOf(await chat.list())).not.toContain('agent.approval_request');
    expect(typesOf(await chat.list())).not.toContain('agent.custom_tool_use');
    const text = describesCode(service.model.requests[0]!);
    expect(text).toMatch(/write_file\(/);
    expect(text).not.toMatch(/terminal\(|web_search\(/);
    chat.close();
  });

  it('may make calls approved for the session, from then on', async () => {
    const chat = await openChat({ tools: [toolset(policy('code_execution', 'always_allow'))] });
    const script = `${RAW}\nprint(ask("write_file", path="a", content="x"))\nprint(ask("read_file", path="a"))`;
    expect((await runScript(chat, script)).output).toMatch(/error.*\n.*error/);
    service.model.play(callTool('write_file', { path: 'b', content: 'x' }), say('Done.'));
    await chat.prompt('Go.');
    const request = await chat.next('agent.approval_request');
    await chat.next('session.status_idle');
    await chat.send(allow(request.id, 'session'));
    await chat.next('session.status_idle');
    expect((await runScript(chat, script)).output).toMatch(/bytes_written.*\n.*error/);
    chat.close();
  });

  it('may make calls that ask in yolo mode, but none that are denied', async () => {
    const tools = [toolset(policy('terminal', 'always_deny'))];
    const chat = await openChat({ tools }, { yoloMode: true });
    const outcome = await runScript(
      chat,
      `${RAW}\nprint(ask("write_file", path="a", content="x"))\nprint(ask("terminal", command="true"))`,
    );
    expect(outcome.output).toMatch(/bytes_written.*\n.*not permitted/);
    chat.close();
  });

  it('does not reach the script of another session of the same subject', async () => {
    const agent = await service.api.createAgent({ tools: allowAll });
    const [one, two] = [await service.api.openChat(agent), await service.api.openChat(agent)];
    service.model.play(code('open("begun", "w").close()\nimport time\ntime.sleep(600)'));
    await one.prompt('Go.');
    await one.next((frame) => frame.type === 'agent.tool_use' && frame.status === 'complete');
    const { output } = await runScript(
      two,
      `
import glob, os, time
while not os.path.exists("begun"): time.sleep(0.05)
print([path for path in glob.glob("/tmp/.capstan/*/rpc") if not path.startswith(os.environ["CAPSTAN_SCRIPT"])])
print([name for name in os.listdir("/run/capstan")])
`,
    );
    expect(output).toBe('[]\n[]\n');
    await one.send(interrupt());
    await one.next('session.status_idle');
    one.close();
    two.close();
  });
});

/** Any process of this machine, inside or outside of a sandbox, whose command ends like this. */
function isRunning(command: string): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().endsWith(command);
    } catch {
      return false;
    }
  });
}
