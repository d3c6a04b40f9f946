import type { MasterKeys, Sealed } from '../platform/master-key.ts';
import { describeSealedTable } from '../platform/store/rewrap.ts';
import type { Passkey } from './contract/passkeys.ts';
import type { IdentityProviderRef, LoginMailbox, LoginMethod } from './contract/shapes.ts';

/** The encrypted part of a stored credential. Optional fields are absent in credentials of a signup. */
export type Secrets = {
  loginUrl: string;
  username: string | undefined;
  password: string | undefined;
  allowedDomains: string[];
  mailbox?: LoginMailbox | undefined;
  loginMethod?: LoginMethod | undefined;
  totpSecret?: string | undefined;
  identityProvider?: IdentityProviderRef | undefined;
  passkeys?: Passkey[] | undefined;
  /** values for other fields of the form */
  fields?: Record<string, unknown> | undefined;
};

type Keys = { masterKeys: MasterKeys };

/** What the secrets of a website's account are sealed for. */
export function loginCredentialContext(id: string): string {
  return `login-credential/${id}`;
}

export function sealSecrets({ masterKeys }: Keys, id: string, secrets: Secrets): Sealed {
  return masterKeys.seal(JSON.stringify(secrets), loginCredentialContext(id));
}

/** Throws `UnsealError` if the master key is missing. */
export function unsealSecrets({ masterKeys }: Keys, id: string, sealed: Sealed): Secrets {
  return JSON.parse(masterKeys.unseal(sealed, loginCredentialContext(id))) as Secrets;
}

export const SEALED_LOGIN_CREDENTIALS = describeSealedTable('login_credentials', loginCredentialContext);
