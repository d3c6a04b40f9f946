import { makeWebhookSecret } from '../../platform/webhook-signature.ts';
import { UnsealError } from '../../platform/master-key.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import type { SealedTable } from '../../platform/store/rewrap.ts';
import { findWebhookSecret, keepWebhookSecret } from '../store/credits.ts';
import type { VideoPorts } from '../deps.ts';

function webhookContext(organizationId: string): string {
  return `webhooks/${organizationId}`;
}

export const SEALED_WEBHOOK_SECRETS: SealedTable = {
  contextOf: webhookContext,
  list: `SELECT organization_id AS id, webhook_secret->>'sealed' AS sealed, webhook_secret->>'dataKey' AS data_key,
      webhook_secret->>'masterKeyId' AS master_key_id FROM credit_accounts
    WHERE webhook_secret->>'masterKeyId' <> $1 AND organization_id > $2 ORDER BY organization_id LIMIT $3`,
  save: `UPDATE credit_accounts
    SET webhook_secret = webhook_secret || jsonb_build_object('dataKey', $3::text, 'masterKeyId', $4::text)
    WHERE organization_id = $1 AND webhook_secret->>'dataKey' = $2`,
};

function open(masterKeys: MasterKeys, sealed: Parameters<MasterKeys['unseal']>[0], context: string) {
  try {
    return masterKeys.unseal(sealed, context);
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
}

/**
 * The secret that signs an organization's webhooks, created at its first use. It is encrypted at rest and encrypted
 * again after a change of the master key. A secret that no available key can decrypt is replaced.
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
    const secret = known ?? makeWebhookSecret();
    if (await keepWebhookSecret(db, organizationId, masterKeys.seal(secret, context), sealed)) return secret;
  }
}
