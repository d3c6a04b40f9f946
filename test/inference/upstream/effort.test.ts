import { expect, it } from 'vitest';
import { fitEffort } from '../../../src/inference/upstream/effort.ts';

it('takes the accepted effort that is next to the wanted one', () => {
  expect(fitEffort('high', ['low', 'medium', 'high'])).toBe('high');
  expect(fitEffort('max', ['none', 'low', 'medium', 'high', 'xhigh'])).toBe('xhigh');
  expect(fitEffort('none', ['minimal', 'low', 'medium', 'high'])).toBe('minimal');
  expect(fitEffort('low', ['none', 'medium', 'high'])).toBe('medium');
  expect(fitEffort('medium', ['high', 'max'])).toBe('high');
});
