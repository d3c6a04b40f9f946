import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_OPEN_REQUESTS } from '../../src/sandbox/protocol/executor.ts';
import { SandboxError } from '../../src/sandbox/sandbox.ts';
import type { SandboxSession, Sandboxes, ScriptRequest } from '../../src/sandbox/sandbox.ts';
import { NEVER, newTarget, openLocalSandboxes } from '../support/sandbox.ts';

/** Every adapter of the port passes this suite. */
const adapters: { name: string; open: () => Promise<{ sandboxes: Sandboxes; close(): Promise<void> }> }[] = [
  { name: 'process', open: () => openLocalSandboxes() },
];

/** Sends lines to the socket and prints the answers, one connection per line. */
const ASK = `
const net = require('node:net');
const ask = (line) => new Promise((resolve) => {
  let text = '';
  const socket = net.connect(process.env.CAPSTAN_SCRIPT + '/rpc', () => socket.write(line + '\\n'));
  socket.on('data', (chunk) => { text += chunk; if (text.endsWith('\\n')) { socket.end(); resolve(text.trim()); } });
  socket.on('close', () => resolve('(closed)'));
  socket.on('error', () => resolve('(error)'));
});
`;

describe.each(adapters)('scripts in sandboxes by $name', ({ open }) => {
  let opened: Awaited<ReturnType<typeof open>>;
  let sandbox: SandboxSession;
  beforeAll(async () => {
    opened = await open();
    sandbox = await opened.sandboxes.acquire(newTarget(), NEVER);
  });
  afterAll(() => opened.close());

  const script = (over: Partial<ScriptRequest>, signal = NEVER) =>
    sandbox.runScript(
      {
        callId: randomUUID(),
        command: 'node "$CAPSTAN_SCRIPT/main.js"',
        files: {},
        timeoutMs: 60_000,
        maxRequests: 100,
        answer: async (line) => `<${line}>`,
        ...over,
      },
      signal,
    );
  const main = (code: string) => ({ 'main.js': `${ASK}(async () => {${code}})();` });
  const shell = async (command: string) =>
    (await sandbox.run({ callId: randomUUID(), command, timeoutMs: 60_000 }, NEVER)).output;

  test('its streams come apart, with the exit code', async () => {
    const result = await script({ command: 'echo out; echo err >&2; exit 3' });
    expect(result).toEqual({ output: 'out\n', errors: 'err\n', exitCode: 3, timedOut: false });
  });

  test('each stream keeps its head and its tail', async () => {
    const print = 'echo first; yes filler | head -c 300000; echo last';
    const { output, errors } = await script({ command: `${print}; (${print}) >&2` });
    for (const [text, cap] of [
      [output, 50_000],
      [errors, 10_000],
    ] as const) {
      expect(text.length).toBeLessThan(cap + 200);
      expect(text).toMatch(/^first\n.*OUTPUT TRUNCATED.*last\n$/s);
    }
  });

  test('it asks and is answered while it runs', async () => {
    const asked: string[] = [];
    const { output, errors } = await script({
      files: main(`console.log(await ask('one')); console.log(await ask('two ✓'));`),
      answer: async (line) => {
        asked.push(line);
        return `${line}!`;
      },
    });
    expect(errors).toBe('');
    expect(output).toBe('one!\ntwo ✓!\n');
    expect(asked).toEqual(['one', 'two ✓']);
  });

  test('it sees the working directory and environment of the session and changes neither', async () => {
    await shell('mkdir -p here && cd here && export KEPT=yes');
    const { output } = await script({ command: 'pwd; echo "$KEPT"; export KEPT=no MORE=1; cd /tmp' });
    expect(output).toBe(`${sandbox.workspace}/here\nyes\n`);
    expect(await shell('pwd; echo "$KEPT[$MORE]"; cd ..; unset KEPT')).toBe(`${sandbox.workspace}/here\nyes[]\n`);
  });

  test('its folder is gone after it', async () => {
    const { output } = await script({
      command: 'echo "$CAPSTAN_SCRIPT"; ls "$CAPSTAN_SCRIPT"',
      files: { 'a.txt': '' },
    });
    const [folder, ...names] = output.trim().split('\n');
    expect(names).toEqual(['a.txt', 'rpc']);
    expect(await shell(`ls -d ${folder} 2>&1`)).toContain('No such file');
  });

  test('many at once are answered a few at a time, and all of them', async () => {
    let pending = 0;
    let most = 0;
    const { output } = await script({
      files: main(`
        const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ask('n' + n)));
        console.log(answers.sort().join());`),
      answer: async (line) => {
        pending += 1;
        most = Math.max(most, pending);
        for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
        pending -= 1;
        return line;
      },
    });
    const all = Array.from({ length: 20 }, (_, n) => `n${n}`);
    expect(output.trim()).toBe(all.sort().join());
    expect(most).toBeLessThanOrEqual(MAX_OPEN_REQUESTS);
  });

  test('past its requests, and past the length of one, nothing is passed on', async () => {
    const asked: number[] = [];
    const { output } = await script({
      maxRequests: 3,
      files: main(`
        console.log(await ask('x'.repeat(5 * 1024 * 1024)));
        for (let n = 0; n < 5; n += 1) console.log(await ask('n'));`),
      answer: async (line) => {
        asked.push(line.length);
        return 'yes';
      },
    });
    expect(output.trim().split('\n')).toEqual([
      expect.stringContaining('"error"'),
      'yes',
      'yes',
      'yes',
      expect.stringContaining('"error"'),
      expect.stringContaining('"error"'),
    ]);
    expect(asked).toEqual([1, 1, 1]);
  });

  test('a flood of connections and garbage is its own loss only', async () => {
    const { output } = await script({
      files: main(`
        for (let n = 0; n < 300; n += 1) {
          const socket = net.connect(process.env.CAPSTAN_SCRIPT + '/rpc', () => { socket.write(Buffer.alloc(100_000, n)); socket.destroy(); });
          socket.on('error', () => {});
        }
        setTimeout(async () => { console.log('done'); process.exit(0); }, 500);`),
    });
    expect(output).toBe('done\n');
    expect(await shell('echo alive')).toBe('alive\n');
  });

  test('what it started ends with it', async () => {
    await script({ command: '(setsid sleep 4321.5 &) ; sleep 4321.6 & echo done' });
    expect(await shell('cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "')).not.toMatch(/sleep 4321/);
  });

  test('a timeout ends it, and late answers are dropped', async () => {
    let aborted = false;
    const result = await script({
      timeoutMs: 12_000,
      files: main(`console.log('begun'); await ask('for ever');`),
      answer: (_line, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(signal.reason as Error);
          });
        }),
    });
    expect(result).toMatchObject({ output: 'begun\n', exitCode: 124, timedOut: true });
    expect(aborted).toBe(true);
  });

  test('an abort ends it with 130, though it ignores signals', async () => {
    const abort = new AbortController();
    const { exitCode } = await script(
      {
        command: `trap '' TERM INT HUP; echo x; node "$CAPSTAN_SCRIPT/main.js"; while :; do sleep 1; done`,
        files: main(`await ask('now');`),
        answer: async () => {
          abort.abort();
          return '';
        },
      },
      abort.signal,
    );
    expect(exitCode).toBe(130);
  });

  test('what an answer throws ends the script and is thrown', async () => {
    const reason = new Error('no lease');
    const ended = script({
      files: main(`await ask('now'); await ask('again'); setTimeout(() => {}, 60_000);`),
      answer: () => Promise.reject(reason),
    });
    await expect(ended).rejects.toBe(reason);
  });

  test('one that is sent again runs once', async () => {
    const callId = randomUUID();
    const first = await script({ callId, command: 'echo x >> scripted; cat scripted' });
    expect(await script({ callId, command: 'echo x >> scripted; cat scripted' })).toEqual(first);
    expect(await shell('cat scripted')).toBe('x\n');
  });

  test('a sandbox that dies under it is an error', async () => {
    const target = newTarget();
    const own = await opened.sandboxes.acquire(target, NEVER);
    const ended = own.runScript(
      {
        callId: randomUUID(),
        command: 'node "$CAPSTAN_SCRIPT/main.js"',
        files: main(`await ask('end the sandbox'); setTimeout(() => {}, 60_000);`),
        timeoutMs: 60_000,
        maxRequests: 1,
        async answer() {
          await opened.sandboxes.remove(target);
          return '';
        },
      },
      NEVER,
    );
    await expect(ended).rejects.toBeInstanceOf(SandboxError);
  });
});
