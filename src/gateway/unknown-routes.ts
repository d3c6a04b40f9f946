import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../platform/log.ts';
import { buildChatError } from './dialects/chat-completions/error.ts';
import { buildMessagesError } from './dialects/messages/error.ts';
import { sendGatewayError } from './errors.ts';

type SendError = (log: Logger, error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

/** Sends an error in the shape that the caller's SDK reads: Anthropic's, or else OpenAI's. */
export const sendSdkError: SendError = (log, error, request, reply) => {
  const render = request.headers['anthropic-version'] === undefined ? buildChatError : buildMessagesError;
  sendGatewayError({ log, render }, error, request, reply);
};

/** Whether no route matched and the request came from an SDK of a model provider. */
export function isUnknownSdkRoute({ is404, url, headers }: FastifyRequest): boolean {
  if (!is404 || !/^\/v1(?:[/?]|$)/.test(url)) return false;
  return headers['anthropic-version'] !== undefined || headers['x-stainless-lang'] !== undefined;
}
