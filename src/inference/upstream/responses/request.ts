import { omitUndefined } from '../../../platform/records.ts';
import type { AssistantPart, InputPart, ModelMessage, ModelRequest, ToolResult } from '../../model.ts';
import { decideEffort } from '../chat-completions/request.ts';
import type { UpstreamRequest, UpstreamTarget } from '../dialect.ts';
import {
  buildBearerHeaders,
  buildFile,
  buildHistory,
  buildImageUrl,
  joinText,
  describeToolFailure,
  limitUser,
} from '../history.ts';

type Item = Record<string, unknown> & { type: string };

function buildInput(part: InputPart): Item {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'file') return { type: 'input_file', ...buildFile(part) };
  return { type: 'input_image', image_url: buildImageUrl(part), detail: part.detail ?? 'auto' };
}

function buildAssistantItem(part: AssistantPart, target: UpstreamTarget): Item[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [message('assistant', [{ type: 'output_text', text: part.text }])];
    case 'refusal':
      return [message('assistant', [{ type: 'refusal', refusal: part.text }])];
    case 'tool_call':
      return [{ type: 'function_call', call_id: part.id, name: part.name, arguments: part.arguments }];
    case 'reasoning': {
      if (part.issuer !== target.name || part.encrypted === undefined) return [];
      const summary = part.summary === true && part.text !== '' ? [{ type: 'summary_text', text: part.text }] : [];
      return [{ type: 'reasoning', summary, encrypted_content: part.encrypted }];
    }
  }
}

function message(role: 'user' | 'assistant' | 'system', content: Item[]): Item {
  return { type: 'message', role, content };
}

/** A string where possible: not every upstream of this format accepts a list of parts. */
function buildResult({ callId, content, isError }: ToolResult): Item {
  const plain = content.every((part) => part.type === 'text');
  const text = joinText(content, '\n');
  const failed: InputPart[] = isError ? [{ type: 'text', text: 'Error:' }] : [];
  return {
    type: 'function_call_output',
    call_id: callId,
    output: plain ? (isError ? describeToolFailure(text) : text) : [...failed, ...content].map(buildInput),
  };
}

function buildItems(each: ModelMessage, target: UpstreamTarget): Item[] {
  switch (each.role) {
    case 'system':
      return [message('system', [{ type: 'input_text', text: joinText(each.content) }])];
    case 'user':
      return each.content.length === 0 ? [] : [message('user', each.content.map(buildInput))];
    case 'assistant':
      return each.content.flatMap((part) => buildAssistantItem(part, target));
    case 'tool':
      return each.results.map(buildResult);
  }
}

function buildFormat(format: ModelRequest['responseFormat']): unknown {
  if (format?.type !== 'json_schema') return format?.type === 'json_object' ? { type: 'json_object' } : undefined;
  const { name, schema, strict, description } = format;
  return omitUndefined({ type: 'json_schema', name, schema, strict, description });
}

/** Models that reason by default. Other models reject `include: reasoning.encrypted_content`. */
const REASONING_MODELS = /(^|\/)(o\d|gpt-[5-9]|codex)/;

export function buildResponsesRequest(request: ModelRequest, target: UpstreamTarget): UpstreamRequest {
  const { system, messages } = buildHistory(request, target);
  const effort = decideEffort(request.reasoning);
  const hasReasoning = effort === undefined ? REASONING_MODELS.test(target.model) : effort !== 'none';
  const { hints = {} } = request;
  const format = buildFormat(request.responseFormat);
  const choice = request.toolChoice;
  const offered = request.tools.length > 0;
  return {
    path: '/responses',
    headers: buildBearerHeaders(target),
    body: omitUndefined({
      model: target.model,
      instructions: system === '' ? undefined : system,
      input: messages.flatMap((each) => buildItems(each, target)),
      stream: true,
      store: false,
      // `strict` defaults to true in this format, and would reject most schemas.
      tools: offered
        ? request.tools.map(({ name, description, parameters, strict }) => ({
            type: 'function',
            name,
            description,
            parameters,
            strict: strict ?? false,
          }))
        : undefined,
      tool_choice: offered
        ? typeof choice === 'object'
          ? { type: 'function', name: choice.name }
          : choice
        : undefined,
      parallel_tool_calls: offered ? request.parallelToolCalls : undefined,
      max_output_tokens: request.maxOutputTokens,
      temperature: request.temperature,
      top_p: request.topP,
      text:
        format === undefined && hints.verbosity === undefined
          ? undefined
          : omitUndefined({ format, verbosity: hints.verbosity }),
      user: limitUser(hints.user),
      service_tier: hints.serviceTier,
      metadata: hints.metadata,
      reasoning: effort === undefined ? undefined : effort === 'none' ? { effort } : { effort, summary: 'auto' },
      include: hasReasoning ? ['reasoning.encrypted_content'] : undefined,
      prompt_cache_key: request.cacheKey,
    }),
  };
}
