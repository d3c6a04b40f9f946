import { expect, test } from 'vitest';
import { openConversation } from '../../support/cluster/node/conversation.ts';
import type { Conversation } from '../../support/cluster/node/conversation.ts';
import type { Installation } from '../../support/cluster/node/installation.ts';
import { ATTEMPTS } from '../../sandbox/escape/attempts.ts';

/** The attempts that every runtime has to refuse. Others find, without a way out, what is the pod's own. */
const IN_PODS = [
  'sysctl',
  'core pattern',
  'core pattern, written',
  'modes of devices',
  'owners of devices',
  'new devices',
  'kernel key rings',
  'sysrq',
  'mounts',
  'set-user-id programs',
  'paths of the host',
  'its executor by ptrace',
  'raw and packet sockets',
  'a real terminal of the host',
  'the clock',
  'the host name',
];
/** gVisor has a kernel of its own for each pod: what these gain there is gained over that one. */
const UNDER_RUNC = ['user namespaces', 'priorities'];

/** For bash in a sandbox. The brackets keep the pattern from finding itself. */
const FIND_EXECUTOR = "executor=$(pgrep -f '[e]xecutor/main.ts')";

/** Asks the kernel to trace the executor (PTRACE_ATTACH) and prints what it returned. One line, as prompts of script/demo are. */
const TRACE_EXECUTOR = [
  FIND_EXECUTOR,
  'python3 -c "import ctypes, errno',
  'libc = ctypes.CDLL(None, use_errno=True)',
  'print(libc.ptrace(16, $executor, 0, 0), errno.errorcode.get(ctypes.get_errno()))"',
].join('; ');

/** What the commands of a sandbox in a pod try in order to leave it, or to take over its executor. */
export function testEscapes(find: () => Installation): void {
  test('its commands can run Node and read it, and neither trace the executor nor read its memory', async () => {
    const eve = await openConversation(find(), { subjectId: 'eve' });
    expect(await eve.run(TRACE_EXECUTOR)).toBe('-1 EPERM');
    const open = '[ -e /proc/$executor/mem ] && (cat < /proc/$executor/environ; exec 3< /proc/$executor/mem) 2>&1';
    expect(await eve.run(`${FIND_EXECUTOR}; ${open} | grep -c 'Permission denied'`)).toBe('2');
    expect(await eve.run('test -r "$(which node)" && node --print 6*7')).toBe('42');
  });

  test('none of the attempts to leave a sandbox succeeds', async () => {
    expect(
      await findEscapes(find(), await openConversation(find(), { subjectId: 'mo' }), [...IN_PODS, ...UNDER_RUNC]),
    ).toBe('over');
  });
}

/** The same of a session whose pod runs on gVisor. */
export async function expectNoEscapeFromGvisor(installation: Installation, conversation: Conversation): Promise<void> {
  expect(await conversation.run(TRACE_EXECUTOR)).toBe('-1 EPERM');
  expect(await findEscapes(installation, conversation, IN_PODS)).toBe('over');
}

/** The names of the attempts that succeed, each on a line, and `over` at the end. */
async function findEscapes({ client }: Installation, conversation: Conversation, names: string[]): Promise<string> {
  const attempts = ATTEMPTS.filter(([name]) => names.includes(name));
  expect(attempts).toHaveLength(names.length);
  const lines = attempts.map(([name, command]) => `(${command}) 2>&1 | grep -q ESCAPED && echo '${name}'`);
  const content = `${lines.join('\n')}\necho over\n`;
  await client.writeFile(conversation.agentId, conversation.subjectId, { path: 'attempts.sh', content }, {});
  return conversation.run('bash attempts.sh');
}
