import { z } from 'zod';

/** Where `web_search` looks. */
export const WebSearchConfig = z
  .strictObject({
    backend: z.enum(['searxng', 'brave', 'tavily']),
    /** SearXNG: where it is served; the others: default is the service's own address */
    baseUrl: z.url({ protocol: /^https?$/ }).optional(),
    apiKey: z.string().min(1).optional(),
    /** name of the environment variable that holds the key; resolved to `apiKey` when the configuration is read */
    apiKeyEnv: z.string().min(1).optional(),
  })
  .refine(({ apiKey, apiKeyEnv }) => apiKey === undefined || apiKeyEnv === undefined, {
    path: ['apiKeyEnv'],
    message: 'must not stand beside apiKey',
  })
  .refine(({ backend, baseUrl }) => backend !== 'searxng' || baseUrl !== undefined, {
    path: ['baseUrl'],
    message: 'is required for searxng',
  })
  .refine(({ backend, ...key }) => backend === 'searxng' || (key.apiKey ?? key.apiKeyEnv) !== undefined, {
    path: ['apiKeyEnv'],
    message: 'or apiKey is required for this backend',
  });
export type WebSearchConfig = z.infer<typeof WebSearchConfig>;
