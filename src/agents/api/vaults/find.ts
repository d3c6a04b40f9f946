import type { Queryable } from '../../../platform/db/db.ts';
import type { Vault } from '../../contract/vaults.ts';
import { errors } from '../../../platform/errors.ts';
import { findVault } from '../../store/vaults.ts';

/** Throws `not_found` also for another organization's vault. */
export async function getVault(db: Queryable, organizationId: string, id: string): Promise<Vault> {
  const vault = await findVault(db, organizationId, id);
  if (vault === undefined) throw errors.notFound('vault');
  return vault;
}

export function archivedVault() {
  return errors.invalidState('The vault is archived.');
}
