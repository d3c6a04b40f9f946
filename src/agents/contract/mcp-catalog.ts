import { z } from 'zod';

/** `mcpCatalog` in `capstan.yaml`: MCP servers that installations may name by `id`. */
export const McpCatalog = z.array(
  z.strictObject({
    id: z.string().min(1),
    name: z.string().min(1),
    url: z.url({ protocol: /^https?$/ }),
    authentication: z.enum(['none', 'static_bearer', 'oauth']).default('none'),
    description: z.string().optional(),
  }),
);
export type McpCatalog = z.infer<typeof McpCatalog>;
