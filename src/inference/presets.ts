import { isRecord } from '../platform/records.ts';

/** Default settings of a preset. Without a `baseUrl` the provider must name its own. */
export type Preset = {
  format: 'chat-completions' | 'responses' | 'messages' | 'generate-content' | 'converse';
  baseUrl?: string;
  /** header of the key, instead of `authorization: Bearer` */
  apiKeyHeader?: string;
};

/** Providers and servers whose settings are known. */
export const PRESETS = {
  'azure-openai': { format: 'chat-completions', apiKeyHeader: 'api-key' },
  anthropic: { format: 'messages', baseUrl: 'https://api.anthropic.com/v1' },
  openai: { format: 'chat-completions', baseUrl: 'https://api.openai.com/v1' },
  gemini: { format: 'chat-completions', baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai' },
  'gemini-native': { format: 'generate-content', baseUrl: 'https://generativelanguage.googleapis.com/v1beta' },
  vertex: { format: 'generate-content' },
  bedrock: { format: 'converse' },
  openrouter: { format: 'chat-completions', baseUrl: 'https://openrouter.ai/api/v1' },
  ollama: { format: 'chat-completions', baseUrl: 'http://127.0.0.1:11434/v1' },
  vllm: { format: 'chat-completions', baseUrl: 'http://127.0.0.1:8000/v1' },
  'llama.cpp': { format: 'chat-completions', baseUrl: 'http://127.0.0.1:8080/v1' },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as [PresetName, ...PresetName[]];

/** Gemini has two formats at two addresses; the preset is the older one's, unless the other format is given. */
function chooseVariant(preset: PresetName, value: object): PresetName {
  const isNative = preset === 'gemini' && 'format' in value && value.format === 'generate-content';
  return isNative ? 'gemini-native' : preset;
}

function readVertexAddress(google: Record<string, unknown>): { baseUrl?: string } {
  const { project, location = 'global' } = google;
  if (typeof project !== 'string' || typeof location !== 'string') return {};
  const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
  return { baseUrl: `https://${host}/v1/projects/${project}/locations/${location}/publishers/google` };
}

/** The address of a preset whose address depends on the region, or on the project. */
function readAddress(value: object): { baseUrl?: string } {
  if ('google' in value && isRecord(value.google)) return readVertexAddress(value.google);
  const region = 'aws' in value && isRecord(value.aws) ? value.aws['region'] : undefined;
  return typeof region === 'string' ? { baseUrl: `https://bedrock-runtime.${region}.amazonaws.com` } : {};
}

/** A provider's settings, completed from its preset. Anything else is returned unchanged. */
export function applyPreset(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('preset' in value)) return value;
  const { preset } = value;
  if (typeof preset !== 'string' || !Object.hasOwn(PRESETS, preset)) return value;
  return { ...readAddress(value), ...PRESETS[chooseVariant(preset as PresetName, value)], ...value };
}
