import type { VideoEnginesConfig } from '../contract/engines.ts';
import type { Engine } from './engine.ts';
import { openComfyUi } from './remote/comfyui.ts';
import { openFal } from './remote/fal.ts';
import { openOpenAiVideos } from './remote/openai-videos.ts';
import { openReplicate } from './remote/replicate.ts';
import type { RemoteSetup } from './remote/setup.ts';
import { openStoryboard } from './storyboard/engine.ts';

/** The built-in engine and the configured ones. No engine is contacted before it is needed. */
export function openEngines(configured: VideoEnginesConfig, setup: RemoteSetup): Engine[] {
  const remote = Object.entries(configured).map(([name, config]): Engine => {
    switch (config.type) {
      case 'openai-videos':
        return openOpenAiVideos(name, config, setup);
      case 'comfyui':
        return openComfyUi(name, config, setup);
      case 'fal':
        return openFal(name, config, setup);
      case 'replicate':
        return openReplicate(name, config, setup);
    }
  });
  return [openStoryboard(), ...remote];
}
