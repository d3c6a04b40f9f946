import { z } from 'zod';
import { UpstreamFormat } from '../../inference/config.ts';
import { Timestamp } from '../../platform/contract/common.ts';
import { defineRoute } from '../../platform/contract/route.ts';

export const Upstream = z
  .object({
    object: z.literal('upstream'),
    name: z.string(),
    format: UpstreamFormat,
    source: z.enum(['server', 'organization']).describe('who configured it; `organization`: one of `/v1/providers`'),
    breaker: z
      .enum(['closed', 'open', 'half_open'])
      .describe(
        'the worst of its models. `open`: models with a list of upstreams skip it; `half_open`: the next call is a trial',
      ),
    lastErrorAt: Timestamp.nullable(),
    lastErrorCode: z.string().nullable(),
    latencyMs: z.number().nullable().describe('to the first part of a reply, a moving average; null: no call yet'),
    models: z.int().describe('how many the gateway lists'),
  })
  .meta({ id: 'Upstream' });
export type Upstream = z.infer<typeof Upstream>;

const UpstreamList = z.object({ object: z.literal('list'), data: z.array(Upstream) }).meta({ id: 'UpstreamList' });

export const upstreamRoutes = {
  listUpstreams: defineRoute({
    id: 'listUpstreams',
    method: 'GET',
    path: '/v1/upstreams',
    tag: 'Providers',
    scope: 'services:read',
    orScope: 'admin',
    summary: "The providers of models, with what this gateway process has seen of the organization's calls",
    responses: { 200: UpstreamList },
    errors: [],
  }),
};
