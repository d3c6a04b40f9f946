import { randomToken } from '../../platform/crypto.ts';
import { UnsealError } from '../../platform/master-key.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import { webhookContext } from '../../platform/store/rewrap.ts';
import { findWebhookSecret, keepWebhookSecret } from '../store/credits.ts';
import type { VideoPorts } from '../deps.ts';

const BYTES = 24;
/** As Standard Webhooks writes secrets: the key follows in base64. */
const PREFIX = 'whsec_';

function open(masterKeys: MasterKeys, sealed: Parameters<MasterKeys['unseal']>[0], context: string) {
  try {
    return masterKeys.unseal(sealed, context);
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
}

/**
 * What an organization's webhooks are signed with, made when it is first wanted; sealed at rest, and anew by the current
 * master key when it changes. One that no key at hand opens is replaced.
 */
export async function ensureWebhookSecret(
  { db, masterKeys }: Pick<VideoPorts, 'db' | 'masterKeys'>,
  organizationId: string,
): Promise<string> {
  const context = webhookContext(organizationId);
  for (;;) {
    const sealed = await findWebhookSecret(db, organizationId);
    const known = sealed === undefined ? undefined : open(masterKeys, sealed, context);
    if (known !== undefined && sealed?.masterKeyId === masterKeys.currentId) return known;
    const secret = known ?? `${PREFIX}${Buffer.from(randomToken(BYTES), 'base64url').toString('base64')}`;
    if (await keepWebhookSecret(db, organizationId, masterKeys.seal(secret, context), sealed)) return secret;
  }
}
