import { omitUndefined } from '../../platform/records.ts';
import { readText } from './input.ts';
import { answerTool, failTool } from './tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

/** A signed-in browser, without anything that could sign in again. */
export type WebsiteSession = {
  credentialId: string;
  /** Playwright's shape */
  storageState: unknown;
  origins: string[];
  /** when it ends at the latest */
  expiresAt: string;
};

/** Signs in with the credentials that an organization has stored. */
export type WebsiteAccounts = {
  /**
   * The session of the credential, or of the only one for the site; or a fault in words for the model. Throws the
   * signal's reason.
   */
  signIn(
    organizationId: string,
    wanted: { site: string; credentialId?: string },
    signal: AbortSignal,
  ): Promise<{ session: WebsiteSession } | { fault: string }>;
};

/** The tool of the toolset `website_login`, which is off unless it is enabled: it acts in somebody's name. */
export function buildWebsiteLoginTool(accounts: WebsiteAccounts): Tool {
  return {
    name: 'website_login',
    toolset: 'website_login',
    description:
      'Sign in to a website with a credential that the organization has stored for it. Writes the session to a file ' +
      "of the workspace that Playwright's newContext({ storageState }) takes; its cookies fit other clients too. " +
      'Passwords are never shown. Treat the file as a secret: do not print, copy or send what is in it.',
    parameters: {
      type: 'object',
      properties: {
        site: { type: 'string', description: 'Address or domain of the website' },
        credential_id: { type: 'string', description: 'Which credential, where the site has several' },
      },
      required: ['site'],
    },
    readOnly: false,
    parallelism: () => 'shared',
    run: (input, context) => logIn(accounts, input, context),
  };
}

async function logIn(
  accounts: WebsiteAccounts,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const site = readText(input, 'site').trim();
  const id = input['credential_id'];
  const credentialId = typeof id === 'string' && id.trim() !== '' ? id.trim() : undefined;
  const wanted = { site, ...omitUndefined({ credentialId }) };
  const found = await accounts.signIn(context.organizationId, wanted, context.signal);
  if ('fault' in found) return failTool(found.fault, { success: false });
  const { session } = found;
  const sandbox = await context.sandbox();
  const bytes = new TextEncoder().encode(JSON.stringify(session.storageState));
  const path = `logins/${session.credentialId}.json`;
  await sandbox.writeFile(path, bytes, { mode: 0o600 });
  return answerTool({
    success: true,
    storage_state: `${sandbox.workspace}/${path}`,
    origins: session.origins,
    expires_at: session.expiresAt,
    credential_id: session.credentialId,
  });
}
