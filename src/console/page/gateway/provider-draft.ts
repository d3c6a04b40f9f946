/** A server that has no preset. */
export const OTHER = 'other';

export const EMPTY_PROVIDER = {
  kind: 'openai',
  name: 'openai',
  format: 'chat-completions',
  baseUrl: '',
  apiKey: '',
  region: '',
  awsAuth: 'keys',
  accessKeyId: '',
  secretAccessKey: '',
  sessionToken: '',
  project: '',
  location: '',
  credentials: '',
};
export type ProviderDraft = typeof EMPTY_PROVIDER;

/** What a kind of provider needs. */
export function readKind({ kind }: Pick<ProviderDraft, 'kind'>) {
  return {
    credentials: kind === 'bedrock' ? 'aws' : kind === 'vertex' ? 'google' : 'key',
    needsAddress: kind === OTHER || kind === 'azure-openai',
    isKeyOptional: kind === OTHER,
  } as const;
}

function buildAws(draft: ProviderDraft): Record<string, unknown> {
  const { region, awsAuth, accessKeyId, secretAccessKey, sessionToken } = draft;
  if (awsAuth !== 'keys') return { aws: { region: region.trim() }, ...buildApiKey(draft) };
  const token = sessionToken.trim() === '' ? {} : { sessionToken: sessionToken.trim() };
  return {
    aws: {
      region: region.trim(),
      accessKeyId: accessKeyId.trim(),
      secretAccessKey: secretAccessKey.trim(),
      ...token,
    },
  };
}

function buildGoogle({ project, location, credentials }: ProviderDraft): Record<string, unknown> {
  const place = location.trim() === '' ? {} : { location: location.trim() };
  return { google: { project: project.trim(), ...place, credentials: credentials.trim() } };
}

function buildApiKey({ apiKey }: ProviderDraft): Record<string, unknown> {
  return apiKey.trim() === '' ? {} : { apiKey: apiKey.trim() };
}

/** The body of `POST /v1/providers`. Fields of another kind of provider, typed before, are left out. */
export function buildProvider(draft: ProviderDraft): Record<string, unknown> {
  const { kind, name, format, baseUrl } = draft;
  const { credentials, needsAddress } = readKind(draft);
  return {
    name: name.trim(),
    ...(kind === OTHER ? { format } : { preset: kind }),
    ...(needsAddress ? { baseUrl: baseUrl.trim() } : {}),
    ...(credentials === 'aws' ? buildAws(draft) : {}),
    ...(credentials === 'google' ? buildGoogle(draft) : {}),
    ...(credentials === 'key' ? buildApiKey(draft) : {}),
  };
}
