// Tests: test/gateway/provider-credentials.test.ts
import { z } from 'zod';
import type { ProviderConfig } from '../../inference/config.ts';
import { readServiceAccount } from '../../inference/credentials/service-account.ts';
import { errors } from '../../platform/errors.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import { omitUndefined } from '../../platform/records.ts';
import type { ProviderCreate, ProviderPatch } from '../contract/providers.ts';
import { providerContext } from '../store/providers.ts';
import type { ProviderSettings, StoredProvider } from '../store/providers.ts';

/** The secret of a provider before it is sealed. */
export type ProviderSecret = { kind: ProviderSettings['secretKind']; text: string };

const AwsSecret = z.object({
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  sessionToken: z.string().optional(),
});

function refuse(field: string, message: string): Error {
  return errors.validation(`body.${field}: ${message}`);
}

function readAws(aws: ProviderCreate['aws'] | ProviderPatch['aws']): ProviderSecret | undefined {
  if (aws === undefined) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken } = aws;
  if (accessKeyId === undefined && secretAccessKey === undefined && sessionToken === undefined) return undefined;
  if (accessKeyId === undefined) throw refuse('aws.accessKeyId', 'is required with the other keys of AWS');
  if (secretAccessKey === undefined) throw refuse('aws.secretAccessKey', 'is required with accessKeyId');
  return { kind: 'aws', text: JSON.stringify({ accessKeyId, secretAccessKey, sessionToken }) };
}

function readGoogle(google: ProviderCreate['google'] | ProviderPatch['google']): ProviderSecret | undefined {
  if (google?.credentials === undefined) return undefined;
  const read = readServiceAccount(google.credentials);
  if ('account' in read) return { kind: 'google', text: JSON.stringify(read.account) };
  const { field, message } = read.issue;
  throw refuse(field === undefined ? 'google.credentials' : `google.credentials.${field}`, message);
}

/** The credentials in a request; undefined: it has none. Throws `validation_error` that names the field. */
export function readSecret({
  apiKey,
  aws,
  google,
}: Pick<ProviderPatch, 'apiKey'> & { aws?: ProviderCreate['aws'] | ProviderPatch['aws'] } & {
  google?: ProviderCreate['google'] | ProviderPatch['google'];
}): ProviderSecret | undefined {
  const key: ProviderSecret | undefined = apiKey === undefined ? undefined : { kind: undefined, text: apiKey };
  const [secret, second] = [key, readAws(aws), readGoogle(google)].filter((each) => each !== undefined);
  if (second === undefined) return secret;
  throw refuse(second.kind ?? 'apiKey', `must not be set together with ${secret?.kind ?? 'apiKey'}`);
}

/** Throws `validation_error` for credentials that the provider's format does not use. */
export function requireFitting({ format, aws, google }: ProviderSettings, secret: ProviderSecret | undefined): void {
  if (format !== 'converse' && (aws !== undefined || secret?.kind === 'aws')) {
    throw refuse('aws', 'is for providers with the format converse');
  }
  if (format !== 'generate-content' && (google !== undefined || secret?.kind === 'google')) {
    throw refuse('google', 'is for providers with the format generate-content');
  }
  // Without a region there is nothing to sign for, and without a project no token is needed.
  if (secret?.kind === 'aws' && aws === undefined) throw refuse('aws', 'the provider has no region');
  if (secret?.kind === 'google' && google === undefined) throw refuse('google', 'the provider has no project');
}

/** Throws `validation_error` where a new provider would have no credentials but those of this machine. */
export function requireOwnSecret({ aws, google }: ProviderSettings, secret: ProviderSecret | undefined): void {
  if (secret !== undefined) return;
  if (aws !== undefined) throw refuse('aws.accessKeyId', 'is required, or apiKey');
  if (google !== undefined) throw refuse('google.credentials', 'is required');
}

/** The settings of a provider whose secret is replaced. */
export function withSecretKind(settings: ProviderSettings, secret: ProviderSecret): ProviderSettings {
  const { secretKind: _before, ...others } = settings;
  return { ...others, ...omitUndefined({ secretKind: secret.kind }) };
}

/** The provider with its credentials. Throws an `UnsealError`. */
export function openConfig({ id, settings, secret }: StoredProvider, masterKeys: MasterKeys): ProviderConfig {
  const { secretKind, ...config } = settings;
  if (secret === null) return config;
  const text = masterKeys.unseal(secret, providerContext(id));
  if (secretKind === 'aws' && config.aws !== undefined) {
    return { ...config, aws: { ...config.aws, ...omitUndefined(AwsSecret.parse(JSON.parse(text))) } };
  }
  if (secretKind === 'google' && config.google !== undefined) {
    return { ...config, google: { ...config.google, credentials: text } };
  }
  return { ...config, apiKey: text };
}
