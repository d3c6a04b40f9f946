import { failTool } from './tool.ts';
import type { Tool } from './tool.ts';

const MAX_CHOICES = 4;

/** Answered by the user: the loop asks and waits, so `run` is never reached with a turn at work. */
export const clarifyTool: Tool = {
  name: 'clarify',
  toolset: 'clarify',
  description:
    'Ask the user a question and wait for the answer, when the task is ambiguous or a decision is theirs. Give up to 4 ' +
    'choices, or none for an open question. Do not use it for what you can find out or reasonably decide yourself.',
  parameters: {
    type: 'object',
    properties: {
      question: { type: 'string', description: 'The question' },
      choices: {
        type: 'array',
        items: {},
        maxItems: MAX_CHOICES,
        description: 'Up to 4 answers to pick from; the user may always give another',
      },
    },
    required: ['question'],
  },
  readOnly: true,
  parallelism: () => 'exclusive',
  run: () => Promise.resolve(failTool('Questions to the user cannot be asked here.')),
};

const LABELS = ['label', 'description', 'text', 'title'];

function unwrapChoice(choice: unknown): string {
  if (typeof choice === 'string') return choice.trim();
  if (typeof choice === 'number' || typeof choice === 'boolean') return String(choice);
  if (typeof choice !== 'object' || choice === null) return '';
  const fields = choice as Record<string, unknown>;
  const found = LABELS.map((name) => fields[name]).find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof found === 'string' ? found.trim() : '';
}

/** The question as it is put to the user. `choices` is null for an open question; what cannot be read as text is left out. */
export function readClarifyInput(input: Record<string, unknown>): { question: string; choices: string[] | null } {
  const given = Array.isArray(input['choices']) ? input['choices'] : [];
  const choices = given
    .map(unwrapChoice)
    .filter((choice) => choice !== '')
    .slice(0, MAX_CHOICES);
  const question = typeof input['question'] === 'string' ? input['question'].trim() : '';
  return { question, choices: choices.length === 0 ? null : choices };
}
