import { z } from 'zod';

/** How hard the model is to think. A model without the effort takes the nearest one it has. */
export const Reasoning = z
  .object({ effort: z.enum(['none', 'low', 'medium', 'high', 'max']) })
  .meta({ id: 'Reasoning' });
export type Reasoning = z.infer<typeof Reasoning>;
