import { z } from 'zod';
import { Role } from './roles.ts';

const ClaimName = z.string().min(1).max(200);

/** `auth.oidc` of `capstan.yaml`: the identity provider of the people who use this server. */
export const OidcConfig = z.strictObject({
  issuer: z.url({ protocol: /^https?$/ }),
  clientId: z.string().min(1).max(500),
  /** names the variable that holds the client's secret; absent: a public client */
  clientSecretEnv: z.string().min(1).max(200).optional(),
  scopes: z
    .union([z.array(z.string().min(1).max(200)), z.string().transform((text) => text.split(' ').filter(Boolean))])
    .default(['openid', 'profile', 'email']),
  groupsClaim: ClaimName.default('groups'),
  emailClaim: ClaimName.default('email'),
  /** the role of each group; the highest counts */
  roles: z.record(z.string().min(1).max(500), Role).default({}),
  /** of people in none of the groups; absent: they are refused */
  defaultRole: Role.optional(),
  /** holds the name of a person's organization; absent: everybody is of `default` */
  organizationClaim: ClaimName.optional(),
  /** for whom access tokens are made that callers send as bearer tokens; default: the client's id */
  audience: z.string().min(1).max(500).optional(),
});
export type OidcConfig = z.infer<typeof OidcConfig>;
