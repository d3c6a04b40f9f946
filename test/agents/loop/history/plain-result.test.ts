import { expect, it } from 'vitest';
import { renderPlain } from '../../../../src/agents/loop/history/plain-result.ts';

it('shows long texts as they are, behind a header of short fields', () => {
  const result = { output: 'say "hi"\n\tand go', exit_code: 0, error: null };
  expect(renderPlain(JSON.stringify(result))).toBe('{"exit_code":0,"error":null}\n\noutput:\nsay "hi"\n\tand go');
  expect(renderPlain(JSON.stringify({ content: 'a\nb' }))).toBe('content:\na\nb');
});

it('leaves other results as they are', () => {
  for (const text of ['{"a":"short","list":["x\\ny"]}', '[1]', '{broken', 'plain\ntext', '']) {
    expect(renderPlain(text)).toBe(text);
  }
});
