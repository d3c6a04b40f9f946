import { randomInt, randomUUID } from 'node:crypto';
import type { GenerationCreate, GenerationSubmitted } from '../contract/generations.ts';
import { explainRefusal } from '../../platform/egress/explain-refusal.ts';
import { errors } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { findKeptAnswer, hashBody } from '../../platform/store/idempotency.ts';
import type { NewGeneration } from '../store/submits.ts';
import { findTemplate } from '../store/templates.ts';
import type { VideoPorts } from '../deps.ts';
import { videoErrors } from '../errors.ts';
import { resolveReferences } from '../references/resolve.ts';
import { decideAspectRatio, decideSize, decideRequestedOptions } from './decide.ts';

const SCOPE = 'video.generations';
const MAX_KEY_LENGTH = 255;
const SEEDS = 2 ** 32;

export type Submission = { organizationId: string; body: GenerationCreate; idempotencyKey: string | undefined };

type Prepared = { generations: NewGeneration[]; answer: GenerationSubmitted };

/**
 * Queues the videos of a request. Credits, generations, jobs and the stored response for replays are written in one
 * transaction. Throws before anything is charged if the model does not support the request.
 */
export async function submitGenerations(ports: VideoPorts, submission: Submission): Promise<GenerationSubmitted> {
  const replay = await findReplay(ports, submission);
  if (replay !== undefined) return replay;
  if (ports.settings.freeTierPaused) throw videoErrors.freeTierPaused();
  const { organizationId, body, idempotencyKey: key } = submission;
  const { generations, answer } = await prepare(ports, submission);
  const kept = { bodySha256: hashBody(body), status: 202, response: answer };
  const outcome = await ports.submitter.submit({
    organizationId,
    generations,
    ...(key === undefined ? {} : { answer: { organizationId, scope: SCOPE, key, ...kept } }),
  });
  if (outcome === 'queued') return answer;
  if (outcome !== 'overtaken') throw videoErrors.insufficientCredits(outcome.required, outcome.balance);
  const first = await findReplay(ports, submission);
  if (first === undefined) throw errors.conflict('The idempotency key is in use by another request.');
  return first;
}

async function findReplay(
  { db }: VideoPorts,
  { organizationId, idempotencyKey: key, body }: Submission,
): Promise<GenerationSubmitted | undefined> {
  if (key === undefined) return undefined;
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    throw errors.validation(`header.idempotency-key: must be 1 to ${MAX_KEY_LENGTH} characters`);
  }
  const kept = await findKeptAnswer(db, { organizationId, scope: SCOPE, key });
  if (kept === undefined) return undefined;
  if (kept.bodySha256 !== hashBody(body)) throw errors.conflict('The idempotency key was used with another body.');
  return kept.response as GenerationSubmitted;
}

async function prepare(ports: VideoPorts, { organizationId, body }: Submission): Promise<Prepared> {
  const model = await ports.models.find(body.modelName);
  if (model === undefined) throw videoErrors.unsupportedModel();
  const { capabilities, engine } = model;
  const {
    variant,
    credits,
    references: keys,
    ...requested
  } = decideRequestedOptions(capabilities, body, ports.settings.creditsPerSecond);
  if (body.templateId !== undefined && (await findTemplate(ports.db, body.templateId)) === undefined) {
    throw videoErrors.unsupported('templateId', 'there is no such template.');
  }
  if (body.webhookUrl !== undefined) await checkWebhook(ports, body.webhookUrl);
  const { references, picture } = await resolveReferences(ports, organizationId, keys);
  const aspectRatio = decideAspectRatio(requested.aspectRatio, capabilities, picture);
  const firstSeed = body.seed ?? randomInt(SEEDS);
  const generations = Array.from({ length: body.count ?? 1 }, (_, index) => ({
    id: newId('gen'),
    jobId: randomUUID(),
    modelName: capabilities.name,
    variant,
    prompt: body.prompt,
    templateId: body.templateId ?? null,
    plan: {
      ...requested,
      aspectRatio,
      ...decideSize(aspectRatio, requested.resolution),
      seed: (firstSeed + index) % SEEDS,
      references,
    },
    credits,
    deadlineSeconds: capabilities.deadlineSeconds,
    webhookUrl: body.webhookUrl ?? null,
  }));
  const answer: GenerationSubmitted = {
    data: {
      generations: generations.map(({ id }) => ({ id, asset_id: null, request_id: null, status: 'queued' })),
      endpoint_id: `${engine.kind}/${variant}`,
      variant,
      metadata: {
        model_name: body.modelName,
        selected_model_name: capabilities.name,
        credits_charged: credits * generations.length,
        num_generations: generations.length,
      },
    },
  };
  return { generations, answer };
}

/** Rejects only URLs that the guard will always reject: an unknown host may exist later. */
async function checkWebhook({ egress }: VideoPorts, url: string): Promise<void> {
  const refusal = await explainRefusal(egress, url);
  if (refusal !== undefined) throw errors.validation(`webhookUrl: ${refusal}`);
}
