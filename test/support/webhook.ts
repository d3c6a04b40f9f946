import type { Sealed } from '../../src/platform/master-key.ts';

/** A webhook that takes every event, as its row begins; the secret cannot be opened. */
export const STORED_WEBHOOK = {
  url: 'https://hooks.example',
  events: '*',
  description: null,
  fullEvent: false,
  enabled: true,
  secret: { sealed: 'x', dataKey: 'x', masterKeyId: 'x' } satisfies Sealed,
} as const;
