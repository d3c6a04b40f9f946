import { omitUndefined } from '../platform/records.ts';
import { ModelError } from './model.ts';
import type { AssistantPart, ModelDelta, ModelReply } from './model.ts';

type ReplyParts = (AssistantPart | undefined)[];

function grow(parts: ReplyParts, delta: Extract<ModelDelta, { type: 'text' | 'refusal' | 'reasoning' }>): void {
  const part = parts[delta.index];
  if (part === undefined) {
    parts[delta.index] =
      delta.type === 'reasoning' && delta.summary === true
        ? { type: 'reasoning', text: delta.text, summary: true }
        : { type: delta.type, text: delta.text };
  } else if (part.type === delta.type) {
    part.text += delta.text;
  }
}

function addSignature(parts: ReplyParts, delta: Extract<ModelDelta, { type: 'reasoning_signature' }>): void {
  const { index, signature, encrypted, redacted, issuer } = delta;
  const part = parts[index];
  const reasoning = part?.type === 'reasoning' ? part : { type: 'reasoning' as const, text: '' };
  reasoning.issuer = issuer;
  if (signature !== undefined) reasoning.signature = signature;
  if (encrypted !== undefined) reasoning.encrypted = encrypted;
  if (redacted !== undefined) reasoning.redacted = redacted;
  parts[index] = reasoning;
}

/**
 * Collects deltas into a whole reply; `onDelta` is called with each delta. Missing arguments become `{}`.
 * Throws what the stream throws, and a `ModelError` when it ends without `finish`.
 */
export async function collectReply(
  deltas: AsyncIterable<ModelDelta>,
  onDelta?: (delta: ModelDelta) => void,
): Promise<ModelReply> {
  const parts: ReplyParts = [];
  let id = '';
  let model = '';
  for await (const delta of deltas) {
    onDelta?.(delta);
    switch (delta.type) {
      case 'start':
        ({ id, model } = delta);
        break;
      case 'text':
      case 'refusal':
      case 'reasoning':
        grow(parts, delta);
        break;
      case 'reasoning_signature':
        addSignature(parts, delta);
        break;
      case 'tool_call':
        parts[delta.index] = { type: 'tool_call', id: delta.id, name: delta.name, arguments: '' };
        break;
      case 'citation': {
        const part = parts[delta.index];
        if (part?.type === 'text') (part.citations ??= []).push(delta.citation);
        break;
      }
      case 'tool_arguments': {
        const part = parts[delta.index];
        if (part?.type === 'tool_call') part.arguments += delta.text;
        break;
      }
      case 'finish': {
        const content = parts.filter((part) => part !== undefined);
        for (const part of content) {
          if (part.type === 'tool_call' && part.arguments.trim() === '') part.arguments = '{}';
        }
        const { reason: finish, usage, stopSequence } = delta;
        return { id, model, content, finish, ...omitUndefined({ stopSequence }), usage };
      }
    }
  }
  throw new ModelError('upstream', 'The reply has no end.');
}
