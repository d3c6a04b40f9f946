import { describe, expect, it } from 'vitest';
import { buildChatRequest } from '../../../../src/inference/upstream/chat-completions/request.ts';
import type { Wire } from '../../../support/model-server/pieces.ts';
import { buildRequest, buildTarget, readWire } from '../../../support/upstream.ts';

const target = buildTarget('chat-completions');
const chunk = (delta: Wire, finish_reason: string | null = null): Wire => ({
  choices: [{ index: 0, delta, finish_reason }],
});

async function readDeltas(deltas: Wire[]) {
  return (await readWire('chat-completions', [...deltas.map((delta) => chunk(delta)), chunk({}, 'stop')])).content;
}

const readTexts = (texts: string[]) => readDeltas(texts.map((content) => ({ content })));

describe('reasoning of a chat-completions upstream', () => {
  it.each(['reasoning_content', 'reasoning'])('is read from %s and goes back in the same field', async (field) => {
    const content = await readDeltas([{ [field]: 'let ' }, { [field]: 'me see', content: '' }, { content: 'Hi' }]);
    expect(content).toEqual([
      { type: 'reasoning', text: 'let me see', signature: field, issuer: 'acme/small' },
      { type: 'text', text: 'Hi' },
    ]);
    const request = buildRequest({ messages: [{ role: 'assistant', content }] });
    expect(buildChatRequest(request, target).body.messages).toEqual([
      { role: 'assistant', content: 'Hi', [field]: 'let me see' },
    ]);
    const elsewhere = buildTarget('chat-completions', { name: 'other/small' });
    expect(buildChatRequest(request, elsewhere).body.messages).toEqual([{ role: 'assistant', content: 'Hi' }]);
  });

  it('is counted once when it comes in two fields at a time', async () => {
    const details = (text: string) => [{ type: 'reasoning.text', text, index: 0 }];
    const content = await readDeltas([
      { reasoning: 'let ', reasoning_details: details('let ') },
      { reasoning: 'me see', reasoning_details: details('me see') },
      { reasoning_details: [{ type: 'reasoning.text', signature: 'sig', index: 0 }] },
      { content: 'Hi' },
    ]);
    const [reasoning] = content;
    expect(reasoning).toMatchObject({ type: 'reasoning', text: 'let me see' });
    const { body } = buildChatRequest(buildRequest({ messages: [{ role: 'assistant', content }] }), target);
    expect(body.messages).toEqual([
      {
        role: 'assistant',
        content: 'Hi',
        reasoning_details: [{ type: 'reasoning.text', text: 'let me see', index: 0, signature: 'sig' }],
      },
    ]);
  });

  it('keeps encrypted details that have no text', async () => {
    const content = await readDeltas([
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'zzz' }] },
      { content: 'Hi' },
    ]);
    expect(content[0]).toEqual({
      type: 'reasoning',
      text: '',
      encrypted: '[{"type":"reasoning.encrypted","data":"zzz"}]',
      issuer: 'acme/small',
    });
  });

  it.each([
    ['whole', ['<think>hm</think>\n\nHi']],
    ['torn', ['<th', 'ink>', 'h', 'm</thi', 'nk>', '\n', '\nHi']],
    ['behind a line break', ['\n<think>\nhm</think>Hi']],
  ])('is split off a <think> tag at the start of the text: %s', async (_, texts) => {
    expect(await readTexts(texts)).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it.each([
    ['a tag further on', ['Write <think>', 'x</think>']],
    ['what only begins like a tag', ['<', 'thing>']],
    ['a lone beginning of a tag at the end', ['<thin']],
    ['leading blanks', ['  ', ' Hi']],
  ])('leaves the text alone: %s', async (_, texts) => {
    expect(await readTexts(texts)).toEqual([{ type: 'text', text: texts.join('') }]);
  });

  it('is all of a reply whose tag is never closed', async () => {
    expect(await readTexts(['<think>hm</th'])).toEqual([{ type: 'reasoning', text: 'hm</th' }]);
  });

  it.each([
    ['reasoning', { reasoning_content: 'hm' }, { type: 'reasoning', text: 'hm' }],
    ['a refusal', { refusal: 'no' }, { type: 'refusal', text: 'no' }],
  ])('text that may begin a tag comes before %s that follows it', async (_, delta, part) => {
    expect(await readDeltas([{ content: '\t' }, delta])).toMatchObject([{ type: 'text', text: '\t' }, part]);
  });

  it('is split off although every chunk has a list of annotations', async () => {
    const texts = ['<thi', 'nk>h', 'm</think>', 'Hi'];
    const content = await readDeltas(texts.map((text) => ({ content: text, annotations: [] })));
    expect(content).toMatchObject([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hi' },
    ]);
  });
});
