import { describeSealedTable } from '../platform/store/rewrap.ts';

/** What the secrets of a website's account are sealed for. */
export function loginCredentialContext(id: string): string {
  return `login-credential/${id}`;
}

export const SEALED_LOGIN_CREDENTIALS = describeSealedTable('login_credentials', loginCredentialContext);
