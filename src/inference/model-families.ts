import type { ReasoningEffort } from './model.ts';

/** Common properties of a model family. Token counts; a missing limit is unknown. */
export type ModelFamily = {
  contextWindow?: number;
  maxOutputTokens?: number;
  vision: boolean;
  /** accepted efforts, ascending; empty: no reasoning, or not on request */
  efforts?: readonly ReasoningEffort[];
};

const CLASSIC: readonly ReasoningEffort[] = ['low', 'medium', 'high'];
const UP_TO_XHIGH: readonly ReasoningEffort[] = ['none', 'low', 'medium', 'high', 'xhigh'];
const PRO: readonly ReasoningEffort[] = ['medium', 'high', 'xhigh'];
const CODEX: readonly ReasoningEffort[] = ['low', 'medium', 'high', 'xhigh'];
const CLAUDE: readonly ReasoningEffort[] = ['none', 'low', 'medium', 'high'];
const CLAUDE_MAX: readonly ReasoningEffort[] = [...CLAUDE, 'max'];
const CLAUDE_XHIGH: readonly ReasoningEffort[] = [...CLAUDE, 'xhigh', 'max'];
/** They always think. */
const CLAUDE_ALWAYS: readonly ReasoningEffort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

const LARGE = { contextWindow: 1_000_000, maxOutputTokens: 128_000, vision: true };
const GPT_5 = { contextWindow: 400_000, maxOutputTokens: 128_000, vision: true };
const TEXT: ModelFamily = { vision: false };

/**
 * Output limits, image input and reasoning efforts by the beginning of a model's name, which the price library lacks;
 * windows for models that it does not list. The longest match wins. Names are in lower case, with `-` for `.`.
 */
export const MODEL_FAMILIES: Readonly<Record<string, ModelFamily>> = {
  'claude-fable': { ...LARGE, efforts: CLAUDE_ALWAYS },
  'claude-opus-5-5': { ...LARGE, efforts: CLAUDE_ALWAYS },
  'claude-opus-5': { ...LARGE, efforts: CLAUDE_XHIGH },
  'claude-sonnet-5': { ...LARGE, efforts: CLAUDE_MAX },
  'claude-haiku-5': { ...LARGE, efforts: CLAUDE },
  'claude-opus-4-8': { ...LARGE, efforts: CLAUDE_XHIGH },
  'claude-opus-4-7': { ...LARGE, efforts: CLAUDE_XHIGH },
  'claude-opus-4-6': { ...LARGE, efforts: CLAUDE_MAX },
  'claude-sonnet-4-6': { ...LARGE, maxOutputTokens: 64_000, efforts: CLAUDE_MAX },
  'claude-opus-4-5': { contextWindow: 200_000, maxOutputTokens: 64_000, vision: true, efforts: CLAUDE },
  'claude-opus-4': { contextWindow: 200_000, maxOutputTokens: 32_000, vision: true, efforts: CLAUDE },
  'claude-sonnet-4': { contextWindow: 200_000, maxOutputTokens: 64_000, vision: true, efforts: CLAUDE },
  'claude-haiku-4': { contextWindow: 200_000, maxOutputTokens: 64_000, vision: true, efforts: CLAUDE },
  'claude-3-7': { contextWindow: 200_000, maxOutputTokens: 64_000, vision: true, efforts: CLAUDE },
  'claude-3-5': { contextWindow: 200_000, maxOutputTokens: 8192, vision: true, efforts: [] },
  'claude-3': { contextWindow: 200_000, maxOutputTokens: 4096, vision: true, efforts: [] },
  'claude-2': { contextWindow: 200_000, maxOutputTokens: 4096, vision: false, efforts: [] },
  'gpt-6': { ...LARGE, contextWindow: 1_050_000, efforts: UP_TO_XHIGH },
  'gpt-5-6': { ...LARGE, contextWindow: 1_050_000, efforts: UP_TO_XHIGH },
  'gpt-5-5-pro': { ...LARGE, efforts: PRO },
  'gpt-5-5': { ...LARGE, efforts: UP_TO_XHIGH },
  'gpt-5-4-pro': { ...LARGE, contextWindow: 1_050_000, efforts: PRO },
  'gpt-5-4-mini': { ...GPT_5, efforts: UP_TO_XHIGH },
  'gpt-5-4-nano': { ...GPT_5, efforts: UP_TO_XHIGH },
  'gpt-5-4': { ...LARGE, contextWindow: 1_050_000, efforts: UP_TO_XHIGH },
  'gpt-5-3-codex': { ...GPT_5, efforts: CODEX },
  'gpt-5-2-pro': { ...GPT_5, efforts: PRO },
  'gpt-5-2-codex': { ...GPT_5, efforts: CODEX },
  'gpt-5-2': { ...GPT_5, efforts: UP_TO_XHIGH },
  'gpt-5-1-codex-max': { ...GPT_5, efforts: CODEX },
  'gpt-5-1-codex': { ...GPT_5, efforts: CLASSIC },
  'gpt-5-1': { ...GPT_5, efforts: ['none', 'low', 'medium', 'high'] },
  'gpt-5-1-chat': { contextWindow: 128_000, maxOutputTokens: 16_384, vision: true, efforts: ['medium'] },
  'gpt-5-2-chat': { contextWindow: 128_000, maxOutputTokens: 16_384, vision: true, efforts: ['medium'] },
  'gpt-5-3-chat': { contextWindow: 128_000, maxOutputTokens: 16_384, vision: true, efforts: ['medium'] },
  'gpt-5-chat': { contextWindow: 128_000, maxOutputTokens: 16_384, vision: true, efforts: [] },
  'gpt-5-pro': { ...GPT_5, efforts: ['high'] },
  'gpt-5-codex': { ...GPT_5, efforts: CLASSIC },
  'gpt-5': { ...GPT_5, efforts: ['minimal', 'low', 'medium', 'high'] },
  'gpt-4-1': { contextWindow: 1_047_576, maxOutputTokens: 32_768, vision: true, efforts: [] },
  'gpt-4o': { contextWindow: 128_000, maxOutputTokens: 16_384, vision: true, efforts: [] },
  'chatgpt-4o': { contextWindow: 128_000, maxOutputTokens: 16_384, vision: true, efforts: [] },
  'gpt-4-turbo': { contextWindow: 128_000, maxOutputTokens: 4096, vision: true, efforts: [] },
  'gpt-4': { contextWindow: 8192, vision: false, efforts: [] },
  'gpt-3-5': { contextWindow: 16_385, maxOutputTokens: 4096, vision: false, efforts: [] },
  'gpt-oss': { contextWindow: 131_072, vision: false, efforts: CLASSIC },
  'o1-mini': { contextWindow: 128_000, maxOutputTokens: 65_536, vision: false, efforts: [] },
  'o1-preview': { contextWindow: 128_000, maxOutputTokens: 32_768, vision: false, efforts: [] },
  o1: { contextWindow: 200_000, maxOutputTokens: 100_000, vision: true, efforts: CLASSIC },
  'o3-mini': { contextWindow: 200_000, maxOutputTokens: 100_000, vision: false, efforts: CLASSIC },
  o3: { contextWindow: 200_000, maxOutputTokens: 100_000, vision: true, efforts: CLASSIC },
  'o4-mini': { contextWindow: 200_000, maxOutputTokens: 100_000, vision: true, efforts: CLASSIC },
  'gemini-3': { contextWindow: 1_048_576, maxOutputTokens: 65_536, vision: true, efforts: CLASSIC },
  'gemini-2-5': { contextWindow: 1_048_576, maxOutputTokens: 65_536, vision: true, efforts: CLASSIC },
  'gemini-2-0': { contextWindow: 1_048_576, maxOutputTokens: 8192, vision: true, efforts: [] },
  'gemini-1-5': { contextWindow: 1_048_576, maxOutputTokens: 8192, vision: true, efforts: [] },
  'grok-code': { contextWindow: 256_000, vision: false, efforts: [] },
  'grok-4': { contextWindow: 256_000, vision: true, efforts: [] },
  'grok-3-mini': { contextWindow: 131_072, vision: false, efforts: ['low', 'high'] },
  'grok-3': { contextWindow: 131_072, vision: false, efforts: [] },
  'deepseek-chat': { contextWindow: 128_000, maxOutputTokens: 8192, vision: false, efforts: [] },
  'deepseek-reasoner': { contextWindow: 128_000, maxOutputTokens: 64_000, vision: false, efforts: ['high', 'max'] },
  'deepseek-v4': { vision: false, efforts: ['high', 'max'] },
  deepseek: TEXT,
  codestral: TEXT,
  'open-mistral': TEXT,
  'kimi-k2-5': { contextWindow: 256_000, vision: true },
  'kimi-k2': { contextWindow: 256_000, vision: false },
  'glm-4-5v': { vision: true },
  'glm-4-6v': { vision: true },
  'glm-4': TEXT,
  'glm-5': TEXT,
  'qwen3-coder': TEXT,
  'llama-3-1': TEXT,
  'llama-3-3': TEXT,
};
