import { expect, test } from 'vitest';
import { byPassword } from '../login/harness.ts';
import { PASSWORD, USER, countAttempts } from './app.ts';
import { CANAILLE, PEOPLE, isCanailleAttempt } from './apps/canaille.ts';
import { testPasswords } from './password-cases.ts';

testPasswords([
  {
    app: CANAILLE,
    entry: '/login',
    root: '/',
    inside: `/profile/${USER}`,
    sees: async (page) => (await page.locator('a[href^="/logout"]').count()) > 0,
    username: USER,
    isAttempt: isCanailleAttempt,
    more(open) {
      test('reports a password that has expired, after one attempt', async () => {
        const { login, running } = open();
        const before = countAttempts(running, isCanailleAttempt);
        const order = byPassword(`${running.url}/login`, PEOPLE.expired, PASSWORD, { timeoutSeconds: 180 });
        const { body } = await login.post('/api/login', order);
        expect(body['error']).toBe('password_change_required');
        expect(countAttempts(running, isCanailleAttempt) - before).toBe(1);
      });
    },
  },
]);
