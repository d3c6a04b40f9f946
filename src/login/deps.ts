import type { LoginMethod } from './contract/shapes.ts';
import type { Egress } from '../platform/egress/egress.ts';
import type { HttpDeps, HttpPorts } from '../platform/http/deps.ts';
import type { MasterKeys } from '../platform/master-key.ts';
import type { Fleet } from './browser/fleet.ts';
import type { ReadForm } from './form-reader.ts';
import type { LoginMetrics } from './metrics.ts';

/** What the role depends on. */
export type LoginPorts = HttpPorts & {
  egress: Egress;
  masterKeys: MasterKeys;
  fleet: Fleet;
  /** of this process */
  loginMetrics: LoginMetrics;
  /** asks a model about forms that detection does not recognize; absent: switched off */
  readForm?: ReadForm | undefined;
  /** enabled; all others answer 501 */
  methods: readonly LoginMethod[];
  /** domain of the email addresses of mailboxes; absent: no mail is received by SMTP */
  mailDomain?: string | undefined;
  /** ms until a challenge expires; absent: 5 minutes */
  challengeMs?: number;
  /** ms between searches for credentials that are due for renewal; absent: 30 s */
  renewEveryMs?: number;
  /** ms that logins at work may continue once the server begins to close; absent: none that no call waits for */
  drainMs?: number;
};

/** What every handler receives. */
export type LoginDeps = LoginPorts & HttpDeps;
