// Tests: test/console/manage.test.ts
import { t } from '../i18n/t.ts';
import { Choice, TextField } from '../parts/field.tsx';
import type { useDraft } from '../data/use-draft.ts';
import { readLocalTime } from '../text/local-time.ts';

export const EMPTY_CREDENTIAL = {
  displayName: '',
  type: 'static_bearer',
  mcpServerUrl: '',
  token: '',
  accessToken: '',
  expiresAt: '',
  tokenEndpoint: '',
  clientId: '',
  refreshToken: '',
  clientAuth: 'none',
  clientSecret: '',
};
export type CredentialDraft = typeof EMPTY_CREDENTIAL;

const TYPES = [
  ['static_bearer', 'Bearer token that stays the same'],
  ['mcp_oauth', 'OAuth access token'],
] as const;
const CLIENT_AUTHS = [
  ['none', 'No secret'],
  ['client_secret_basic', 'Secret in the header (basic)'],
  ['client_secret_post', 'Secret in the body (post)'],
] as const;

/** How the token is refreshed; nothing where the form names no token endpoint. */
function buildRefresh({ tokenEndpoint, clientId, refreshToken, clientAuth, clientSecret }: CredentialDraft) {
  if (tokenEndpoint.trim() === '') return {};
  const tokenEndpointAuth = clientAuth === 'none' ? { type: clientAuth } : { type: clientAuth, clientSecret };
  return { refresh: { tokenEndpoint: tokenEndpoint.trim(), clientId, refreshToken, tokenEndpointAuth } };
}

/** The body of `POST /v1/vaults/{vaultId}/credentials`. */
export function buildCredential(draft: CredentialDraft): Record<string, unknown> {
  const { displayName, type, mcpServerUrl, token, accessToken, expiresAt } = draft;
  const common = { type, mcpServerUrl: mcpServerUrl.trim() };
  if (type === 'static_bearer') return { displayName, auth: { ...common, token: token.trim() } };
  const auth = {
    ...common,
    accessToken: accessToken.trim(),
    expiresAt: readLocalTime(expiresAt),
    ...buildRefresh(draft),
  };
  return { displayName, auth };
}

/** The body of `PATCH …/credentials/{credentialId}`: what is left empty stays as it is. */
export function buildRotation(draft: CredentialDraft): Record<string, unknown> {
  const { displayName, type, token, accessToken, expiresAt, refreshToken } = draft;
  const auth =
    type === 'static_bearer'
      ? { type, ...(token === '' ? {} : { token: token.trim() }) }
      : {
          type,
          ...(accessToken === '' ? {} : { accessToken: accessToken.trim() }),
          ...(expiresAt === '' ? {} : { expiresAt: readLocalTime(expiresAt) }),
          ...(refreshToken === '' ? {} : { refresh: { refreshToken } }),
        };
  return { displayName, ...(Object.keys(auth).length > 1 ? { auth } : {}) };
}

type Props = Pick<ReturnType<typeof useDraft<CredentialDraft>>, 'draft' | 'change' | 'bind'>;

/** A secret is never shown again, not even to the browser's own password store. */
const SECRET = { type: 'password', autoComplete: 'off', maxLength: 16_384 };

function Refresh({ draft, change, bind }: Props) {
  const isUsed = draft.tokenEndpoint.trim() !== '';
  return (
    <>
      <TextField
        label={t('Token endpoint, if the token can be refreshed')}
        name="auth.refresh.tokenEndpoint"
        type="url"
        {...bind('tokenEndpoint')}
      />
      {isUsed ? (
        <>
          <TextField
            label={t('Client id')}
            name="auth.refresh.clientId"
            required
            maxLength={2048}
            {...bind('clientId')}
          />
          <TextField
            label={t('Refresh token')}
            name="auth.refresh.refreshToken"
            required
            {...SECRET}
            {...bind('refreshToken')}
          />
          <Choice
            label={t('How the client shows itself')}
            value={draft.clientAuth}
            options={CLIENT_AUTHS.map(([value, text]) => [value, t(text)])}
            onChange={(clientAuth) => change({ clientAuth })}
          />
        </>
      ) : null}
      {isUsed && draft.clientAuth !== 'none' ? (
        <TextField
          label={t('Client secret')}
          name="auth.refresh.tokenEndpointAuth.clientSecret"
          required
          {...SECRET}
          {...bind('clientSecret')}
        />
      ) : null}
    </>
  );
}

/** The fields of a credential. `isNew` is false for other secrets of one that exists: its type and address stay. */
export function CredentialFields({ isNew, ...form }: Props & { isNew: boolean }) {
  const { draft, change, bind } = form;
  const isOAuth = draft.type === 'mcp_oauth';
  return (
    <>
      <TextField label={t('Name')} name="displayName" required maxLength={200} autoFocus {...bind('displayName')} />
      {isNew ? (
        <>
          <Choice
            label={t('Kind')}
            value={draft.type}
            options={TYPES.map(([value, text]) => [value, t(text)])}
            onChange={(type) => change({ type })}
          />
          <TextField
            label={t('Address of the MCP server')}
            name="auth.mcpServerUrl"
            type="url"
            required
            {...bind('mcpServerUrl')}
          />
        </>
      ) : null}
      {isOAuth ? (
        <>
          <TextField
            label={isNew ? t('Access token') : t('New access token')}
            name="auth.accessToken"
            required={isNew}
            {...SECRET}
            {...bind('accessToken')}
          />
          <TextField
            label={t('Expires')}
            name="auth.expiresAt"
            type="datetime-local"
            help={t('In the time zone of this computer. Empty: {meaning}.', {
              meaning: isNew ? t('it does not expire') : t('as before'),
            })}
            {...bind('expiresAt')}
          />
        </>
      ) : (
        <TextField
          label={isNew ? t('Token') : t('New token')}
          name="auth.token"
          required={isNew}
          {...SECRET}
          {...bind('token')}
        />
      )}
      {isOAuth && isNew ? <Refresh {...form} /> : null}
      {isOAuth && !isNew ? (
        <TextField
          label={t('New refresh token')}
          name="auth.refresh.refreshToken"
          {...SECRET}
          {...bind('refreshToken')}
        />
      ) : null}
    </>
  );
}
