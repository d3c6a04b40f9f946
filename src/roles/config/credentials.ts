// Tests: test/roles/config/config.test.ts
import type { AwsAccess, GoogleAccess } from '../../inference/credentials/config.ts';
import { StartupError } from '../../platform/errors.ts';
import { omitUndefined } from '../../platform/records.ts';
import type { Environment } from './environment.ts';

/** The value of a variable; undefined where none is named. Throws a `StartupError` for `owner` if it is not set. */
export function findKey(env: Environment, variable: string | undefined, owner: string | false): string | undefined {
  if (variable === undefined) return undefined;
  const key = env[variable] ?? '';
  if (key === '' && owner !== false)
    throw new StartupError(`${owner} reads its key from ${variable}, which is not set.`);
  return key === '' ? undefined : key;
}

/** The keys, found wherever the file says they are. */
export function readAwsAccess(access: AwsAccess, env: Environment, owner: string | false): AwsAccess {
  const { accessKeyIdEnv, secretAccessKeyEnv, sessionTokenEnv } = access;
  return {
    ...access,
    ...omitUndefined({
      accessKeyId: access.accessKeyId ?? findKey(env, accessKeyIdEnv, owner),
      secretAccessKey: access.secretAccessKey ?? findKey(env, secretAccessKeyEnv, owner),
      // Long-lived keys have none.
      sessionToken: access.sessionToken ?? findKey(env, sessionTokenEnv, false),
    }),
  };
}

export function readGoogleAccess(access: GoogleAccess, env: Environment, owner: string | false): GoogleAccess {
  const credentials = access.credentials ?? findKey(env, access.credentialsEnv, owner);
  return { ...access, ...omitUndefined({ credentials }) };
}
