import { SEALED_CREDENTIALS } from '../../agents/vaults/secrets.ts';
import { SEALED_PROVIDERS } from '../../gateway/store/providers.ts';
import { SEALED_LOGIN_CREDENTIALS } from '../../login/sealed-credentials.ts';
import type { Db } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import { rewrapSecrets } from '../../platform/store/rewrap.ts';
import { SEALED_WEBHOOKS } from '../../platform/store/webhooks.ts';
import { SEALED_WEBHOOK_SECRETS } from '../../video/webhooks/secret.ts';

const SEALED_TABLES = [
  SEALED_CREDENTIALS,
  SEALED_LOGIN_CREDENTIALS,
  SEALED_WEBHOOK_SECRETS,
  SEALED_WEBHOOKS,
  SEALED_PROVIDERS,
];

/** After a change of the master key: the setting of the previous one can go once no secret is sealed by it. */
export async function rewrapAllSecrets(db: Db, masterKeys: MasterKeys, log: Logger): Promise<void> {
  try {
    log.info(await rewrapSecrets(db, masterKeys, SEALED_TABLES), 'credentials are sealed by the current master key');
  } catch (error) {
    log.warn({ error: errorText(error) }, 'credentials are not all sealed by the current master key');
  }
}
