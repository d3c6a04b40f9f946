import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine, ModelCapabilities, RenderContext, RenderRequest } from '../../src/video/engines/engine.ts';

export const SCRIPTED = 'test/scripted';

/** What a render does: resolves with bytes for the video, or throws. */
export type Script = (request: RenderRequest, context: RenderContext) => Promise<void>;

export type ScriptedEngine = Engine & {
  requests: RenderRequest[];
  cancelled: string[];
  script: Script;
};

const CAPABILITIES: ModelCapabilities = {
  name: SCRIPTED,
  aspectRatios: ['16:9', '1:1'],
  durations: [4, 8],
  resolutions: ['720p'],
  audio: 'never',
  formats: ['mp4'],
  inputs: {
    startFrame: false,
    endFrame: false,
    ingredientImages: 0,
    characterImages: 1,
    sourceVideo: false,
    referenceVideos: 0,
    audio: false,
  },
  creditsPerSecond: { '720p': 2.5 },
  deadlineSeconds: 60,
};

/** An engine of a few capabilities that does as the test says; its videos are this file. */
export function openScriptedEngine(capabilities: Partial<ModelCapabilities> = {}): ScriptedEngine {
  const engine: ScriptedEngine = {
    kind: 'scripted',
    requests: [],
    cancelled: [],
    script: () => Promise.resolve(),
    models: () => [{ ...CAPABILITIES, ...capabilities }],
    async render(request, context) {
      engine.requests.push(request);
      await engine.script(request, context);
      const [file, thumbnail] = [join(request.folder, 'video.mp4'), join(request.folder, 'video.webp')];
      for (const path of [file, thumbnail]) await copyFile(import.meta.filename, path);
      return { file, thumbnail };
    },
    cancel(handle) {
      engine.cancelled.push(handle);
      return Promise.resolve();
    },
  };
  return engine;
}

/** Goes on until the signal says otherwise. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}
