import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PROTOCOLS, startBreakingSite } from '../support/login-sites/breaking.ts';
import type { Ending, Sender } from '../support/login-sites/breaking.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let login: TestLogin;

beforeAll(async () => {
  login = await startTestLogin({ fleet: { extraArguments: ['--ignore-certificate-errors'] } });
});
afterAll(() => login.close());

const CASES: readonly { sender: Sender; ending: Ending }[] = [
  { sender: 'form', ending: 'whole' },
  ...(['reset', 'close', 'goodbye', 'head', 'half-body'] as const).map((ending) => ({
    sender: 'form' as const,
    ending,
  })),
  { sender: 'script', ending: 'goodbye' },
  { sender: 'script', ending: 'half-body' },
  { sender: 'again', ending: 'reset' },
  { sender: 'again', ending: 'half-body' },
];

describe.each(PROTOCOLS)('over %s', (protocol) => {
  test.each(CASES)('a password is posted once, by $sender, whose answer ends so: $ending', async (each) => {
    const site = await startBreakingSite(protocol, each.sender, each.ending);
    onTestFinished(site.close);
    const { status, body } = await login.post('/api/login', byPassword(site.url, 'ada', 'correct horse'));
    const expected = each.ending === 'whole' ? [200, undefined] : [502, 'site_unreachable'];
    expect([status, body['error'], site.posts.length]).toEqual([...expected, 1]);
  });
});
