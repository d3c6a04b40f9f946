import type { FastifyInstance, FastifyRequest } from 'fastify';
import { EVENTS_BODY_BYTES, EVENTS_TEXT_BYTES, attachmentPrefix } from '../../../contract/attachments.ts';
import { errorText, errors } from '../../../../platform/errors.ts';
import { newId } from '../../../../platform/ids.ts';
import { findLogEnd } from '../../../store/events.ts';
import type { EventDeps } from '../../deps.ts';
import { reduceJson } from './reduce.ts';
import { openSink } from './sink.ts';
import type { Ends } from './sink.ts';

/** The attachments that a request has left in the object store, by their references. */
export type StoredEnds = ReadonlyMap<string, Ends>;

export type AttachmentParser = {
  findStored(request: FastifyRequest): StoredEnds;
  /** The log names them now; those of any other request are deleted when it is answered. */
  keep(request: FastifyRequest): void;
};

async function* readChunks(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch {
    throw errors.validation('request: broke off');
  }
}

/** Reads JSON bodies of this scope while they come in, and puts long attachments into the object store on the way. */
export function registerAttachmentParser(scope: FastifyInstance, deps: EventDeps): AttachmentParser {
  const { objects, log } = deps;
  const stored = new WeakMap<FastifyRequest, Map<string, { key: string; ends: Ends }>>();
  const parseJson = scope.getDefaultJsonParser('error', 'ignore');

  async function read(request: FastifyRequest, body: AsyncIterable<Buffer>): Promise<unknown> {
    const own = new Map<string, { key: string; ends: Ends }>();
    stored.set(request, own);
    const { sessionId } = request.params as { sessionId: string };
    const text = await reduceJson(readChunks(body), {
      maxBytes: EVENTS_BODY_BYTES,
      maxTextBytes: EVENTS_TEXT_BYTES,
      openSink: async (mediaType) => {
        const organizationId = request.caller?.organizationId;
        // Nothing is written for a session that is not there.
        const end = organizationId && (await findLogEnd(deps.db, organizationId, sessionId));
        if (end === undefined) throw errors.notFound('session');
        const key = `${attachmentPrefix(sessionId)}${newId('att')}`;
        return openSink(objects, key, mediaType, (reference, ends) => own.set(reference, { key, ends }));
      },
    });
    if (text === '') return undefined;
    const value = await new Promise((resolve, reject) => {
      void parseJson(request, text, (error, parsed) => {
        // The parser's own message quotes what it could not read.
        if (error) reject(errors.validation('body: must be valid JSON'));
        else resolve(parsed);
      });
    });
    return value;
  }

  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser('application/json', (request: FastifyRequest, payload: AsyncIterable<Buffer>) =>
    read(request, payload),
  );
  scope.addHook('onResponse', async (request) => {
    for (const { key } of stored.get(request)?.values() ?? []) {
      await objects.delete(key).catch((error: unknown) => {
        log.warn({ object: key, error: errorText(error) }, 'could not delete an unused attachment');
      });
    }
  });
  return {
    findStored: (request) =>
      new Map([...(stored.get(request) ?? [])].map(([reference, { ends }]) => [reference, ends])),
    keep: (request) => void stored.delete(request),
  };
}
