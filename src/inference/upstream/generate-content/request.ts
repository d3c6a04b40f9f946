import { omitUndefined } from '../../../platform/records.ts';
import { ModelError } from '../../model.ts';
import type { ModelRequest } from '../../model.ts';
import type { UpstreamRequest, UpstreamTarget } from '../dialect.ts';
import { buildAuthHeaders, buildHistory } from '../history.ts';
import { buildContents } from './contents.ts';
import { decideThinkingConfig } from './thinking.ts';
import { isVertex } from './versions.ts';

/** The format's limit of stop sequences. */
export const MAX_STOPS = 5;

/** `models/<id>`, or a longer name such as `tunedModels/<id>`. Ids come from callers, so each segment is encoded. */
function buildModelPath(model: string): string {
  const segments = model.includes('/') ? model.split('/') : ['models', model];
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw new ModelError('unknown_model', 'The provider does not know the model.');
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

function buildToolConfig({ toolChoice }: ModelRequest): Record<string, unknown> | undefined {
  if (toolChoice === undefined || toolChoice === 'auto') return undefined;
  if (typeof toolChoice === 'object')
    return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [toolChoice.name] } };
  return { functionCallingConfig: { mode: toolChoice === 'none' ? 'NONE' : 'ANY' } };
}

function buildOutputFormat({ responseFormat: format }: ModelRequest): Record<string, unknown> {
  if (format === undefined || format.type === 'text') return {};
  const responseMimeType = 'application/json';
  return format.type === 'json_object' ? { responseMimeType } : { responseMimeType, responseJsonSchema: format.schema };
}

function buildGenerationConfig(request: ModelRequest, target: UpstreamTarget): Record<string, unknown> | undefined {
  const { maxOutputTokens: wanted, temperature, topP, sampling = {} } = request;
  const stop = request.stop?.filter((sequence) => sequence !== '').slice(0, MAX_STOPS) ?? [];
  const config = omitUndefined({
    maxOutputTokens: wanted === undefined ? undefined : Math.min(wanted, target.maxOutputTokens ?? wanted),
    temperature,
    topP,
    topK: sampling.topK,
    seed: sampling.seed,
    frequencyPenalty: sampling.frequencyPenalty,
    presencePenalty: sampling.presencePenalty,
    stopSequences: stop.length === 0 ? undefined : stop,
    thinkingConfig: decideThinkingConfig(request, target),
    ...buildOutputFormat(request),
  });
  return Object.keys(config).length === 0 ? undefined : config;
}

/** The parts that both calls of a model have. */
function buildPrompt(request: ModelRequest, target: UpstreamTarget): Record<string, unknown> {
  const { system, messages } = buildHistory(request, target);
  const functions = request.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  return omitUndefined({
    systemInstruction: system === '' ? undefined : { parts: [{ text: system }] },
    contents: buildContents(messages, target),
    tools: functions.length === 0 ? undefined : [{ functionDeclarations: functions }],
    toolConfig: functions.length === 0 ? undefined : buildToolConfig(request),
  });
}

export function buildGenerateContentRequest(request: ModelRequest, target: UpstreamTarget): UpstreamRequest {
  return {
    path: `${buildModelPath(target.model)}:streamGenerateContent?alt=sse`,
    headers: buildAuthHeaders(target),
    body: omitUndefined({
      ...buildPrompt(request, target),
      generationConfig: buildGenerationConfig(request, target),
    }),
  };
}

/** Asks how many input tokens a request has. Vertex AI takes the prompt itself. */
export function buildGenerateContentCount(request: ModelRequest, target: UpstreamTarget): UpstreamRequest {
  const path = buildModelPath(target.model);
  const prompt = buildPrompt(request, target);
  const body = isVertex(target) ? prompt : { generateContentRequest: { model: path.slice(1), ...prompt } };
  return { path: `${path}:countTokens`, headers: buildAuthHeaders(target), body };
}
