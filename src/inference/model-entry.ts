import type { ModelInfo } from './model.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';

/** One model behind a name. Without a target it is the built-in `script/demo`. */
export type ModelEntry = { info: ModelInfo; target: UpstreamTarget | undefined };
