import type { GenerationCreate, ReferenceKeys, RenderPlan } from '../contract/generations.ts';
import type { NewGeneration, OpenAccount, PaidGeneration } from '../store/submits.ts';
import type { ModelCapabilities } from '../engines/engine.ts';
import { videoErrors } from '../errors.ts';

/** The options of a request, before its references are resolved. */
export type RequestedOptions = Omit<RenderPlan, 'aspectRatio' | 'width' | 'height' | 'seed'> & {
  aspectRatio: string;
  variant: string;
  /** of one video */
  credits: number;
};

const LANDSCAPE = '16:9';
const DURATION = /^(\d{1,4})s$/;

function choose<T>(field: string, wanted: T | undefined, offered: readonly T[]): T {
  const [first] = offered;
  if (wanted === undefined && first !== undefined) return first;
  const found = offered.find((value) => value === wanted);
  if (found === undefined) throw videoErrors.unsupported(field, `the model offers ${offered.join(', ')}.`);
  return found;
}

function decideAudio({ audio }: ModelCapabilities, wanted: boolean | undefined): boolean {
  if (wanted === undefined) return audio !== 'never';
  if (wanted && audio === 'never') throw videoErrors.unsupported('hasAudio', 'the model makes no sound.');
  if (!wanted && audio === 'always') throw videoErrors.unsupported('hasAudio', 'the model always makes sound.');
  return wanted;
}

function decideReferences({ inputs }: ModelCapabilities, body: GenerationCreate): ReferenceKeys {
  const one = (field: keyof GenerationCreate, allowed: boolean) => {
    if (body[field] !== undefined && !allowed) throw videoErrors.unsupported(field, 'the model takes none.');
    return body[field] as string | undefined;
  };
  const some = (field: keyof GenerationCreate, most: number) => {
    const keys = (body[field] as string[] | undefined) ?? [];
    if (keys.length > most) {
      throw videoErrors.unsupported(field, most === 0 ? 'the model takes none.' : `the model takes ${most} at most.`);
    }
    return keys;
  };
  const singles = {
    startFrame: one('startFrameKey', inputs.startFrame),
    endFrame: one('endFrameKey', inputs.endFrame),
    sourceVideo: one('sourceVideoKey', inputs.sourceVideo),
    audio: one('audioKey', inputs.audio),
  };
  return {
    ...Object.fromEntries(Object.entries(singles).filter(([, key]) => key !== undefined)),
    ingredientImages: some('ingredientImageKeys', inputs.ingredientImages),
    characterImages: some('characterReferenceImageKeys', inputs.characterImages),
    referenceVideos: some('referenceVideoKeys', inputs.referenceVideos),
  };
}

function decideVariant(references: ReferenceKeys): string {
  if (references.sourceVideo !== undefined) return 'video-to-video';
  if (references.startFrame !== undefined || references.endFrame !== undefined) return 'image-to-video';
  const { ingredientImages, characterImages, referenceVideos } = references;
  if (ingredientImages.length + characterImages.length + referenceVideos.length > 0) return 'reference-to-video';
  return references.audio === undefined ? 'text-to-video' : 'audio-to-video';
}

/** Checks a request against the capabilities of its model. Throws `unsupported_parameter` with the field's name. Pure. */
export function decideRequestedOptions(
  model: ModelCapabilities,
  body: GenerationCreate,
  creditsPerSecond: Readonly<Record<string, number>>,
): RequestedOptions {
  const durations = model.durations.map((seconds) => `${seconds}s`);
  const duration = choose('duration', body.duration, durations);
  const resolution = choose('resolution', body.resolution, model.resolutions);
  const ratios = model.aspectRatios.filter((ratio) => ratio !== 'auto');
  const aspectRatio = choose('aspectRatio', body.aspectRatio ?? 'auto', ['auto', ...ratios]);
  const references = decideReferences(model, body);
  const durationSeconds = Number(DURATION.exec(duration)?.[1]);
  const price = creditsPerSecond[model.name] ?? model.creditsPerSecond[resolution] ?? 1;
  return {
    aspectRatio,
    durationSeconds,
    resolution,
    hasAudio: body.audioKey !== undefined && body.hasAudio === undefined ? true : decideAudio(model, body.hasAudio),
    format: choose('format', body.format as 'mp4' | 'webm' | undefined, model.formats),
    references,
    variant: decideVariant(references),
    credits: Math.ceil(price * durationSeconds),
  };
}

function readRatio(text: string): number {
  const [width = 1, height = 1] = text.split(':').map(Number);
  return width / height;
}

/** Replaces `auto` by the offered ratio nearest to the first picture of the video, or by landscape. Pure. */
export function decideAspectRatio(
  wanted: string,
  model: ModelCapabilities,
  picture: { width: number; height: number } | undefined,
): string {
  if (wanted !== 'auto') return wanted;
  const offered = model.aspectRatios.filter((ratio) => ratio !== 'auto');
  if (picture === undefined) return offered.includes(LANDSCAPE) ? LANDSCAPE : (offered[0] ?? LANDSCAPE);
  const distance = (ratio: string) => Math.abs(Math.log(readRatio(ratio) * (picture.height / picture.width)));
  return offered.toSorted((left, right) => distance(left) - distance(right))[0] ?? LANDSCAPE;
}

/** The resolution names the shorter side: 720p in 16:9 is 1280 × 720. Both sides are even. Pure. */
export function decideSize(aspectRatio: string, resolution: string): { width: number; height: number } {
  const short = Number.parseInt(resolution, 10);
  const ratio = readRatio(aspectRatio);
  const long = Math.round((short * Math.max(ratio, 1 / ratio)) / 2) * 2;
  return ratio >= 1 ? { width: long, height: short } : { width: short, height: long };
}

type Priced = { organizationId: string; generations: readonly NewGeneration[] };

/**
 * Decides in order of arrival which orders their accounts can pay, and assigns the queue positions of their generations. An
 * order that cannot be paid gets its price and the balance. Orders without an account get no outcome. Pure.
 */
export function decideCharges<T extends Priced>(
  accounts: readonly OpenAccount[],
  orders: readonly T[],
): { outcomes: Map<T, 'queued' | { required: number; balance: number }>; paid: PaidGeneration[] } {
  const open = new Map(accounts.map((account) => [account.organizationId, { ...account }]));
  const outcomes = new Map<T, 'queued' | { required: number; balance: number }>();
  const paid: PaidGeneration[] = [];
  for (const order of orders) {
    const { organizationId, generations } = order;
    const account = open.get(organizationId);
    if (account === undefined) continue;
    const required = generations.reduce((sum, { credits }) => sum + credits, 0);
    const { balance } = account;
    outcomes.set(order, required <= balance ? 'queued' : { required, balance });
    if (required > balance) continue;
    account.balance -= required;
    for (const generation of generations) {
      account.queueTag += 1;
      paid.push({ ...generation, organizationId, queueTag: account.queueTag });
    }
  }
  return { outcomes, paid };
}
