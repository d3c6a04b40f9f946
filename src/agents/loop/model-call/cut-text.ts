import type { ModelMessage } from '../../../inference/model.ts';

const CONTINUE =
  '[Your last reply was cut off at the limit of output tokens. Continue it exactly where it ended: repeat nothing, ' +
  'and do not mention the interruption.]';

/** A text that was cut off: the id of its event, and how many parts its reply has. */
export type CutText = { id: string; text: string; parts: number };

/** The conversation with a text that was cut off and the request to continue it. */
export function askToContinue(messages: readonly ModelMessage[], cut: CutText | undefined): ModelMessage[] {
  if (cut === undefined) return [...messages];
  return [
    ...messages,
    { role: 'assistant', content: [{ type: 'text', text: cut.text }] },
    { role: 'user', content: [{ type: 'text', text: CONTINUE }] },
  ];
}
