import type { Registry } from 'prom-client';
import type { Bus } from '../../platform/bus/bus.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Limits } from '../../platform/limits/limits.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import type { Logger } from '../../platform/log.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import type { McpCatalog } from '../contract/mcp-catalog.ts';
import type { Mcp } from '../mcp/mcp.ts';
import type { Vaults } from '../vaults/resolve.ts';
import type { SubjectActivity } from './subjects/activity.ts';
import type { HttpDeps } from '../../platform/http/deps.ts';

/** What the role is given from outside. */
export type ApiPorts = {
  db: Db;
  bus: Bus;
  limits: Limits;
  sandboxes: Sandboxes;
  objects: Objects;
  masterKeys: MasterKeys;
  /** decides which addresses of callers may be named */
  egress: Egress;
  vaults: Vaults;
  mcp: Mcp;
  /** servers that installations may name */
  mcpCatalog: McpCatalog;
  log: Logger;
  /** how traces are shown; absent: as of the service `capstan`, without content */
  traceView?: { serviceName: string; content: boolean };
  /** names that the configuration's `models` defines, beside `<provider>/<model>` */
  models: {
    has(name: string): boolean;
    /** why no provider serves a model, with the setting to add; absent or undefined: one does, or that is not known here */
    explainMissing?(name: string, organizationId: string): string | undefined;
  };
  /** shared by the roles of one process; absent: the server's own, with the default metrics */
  registry?: Registry;
};

/** What every handler gets. */
export type ApiDeps = ApiPorts & HttpDeps & { subjectActivity: SubjectActivity };

/** What the handlers of events get. */
export type EventDeps = Pick<
  ApiDeps,
  'db' | 'bus' | 'limits' | 'log' | 'objects' | 'authenticate' | 'metrics' | 'streamSlots' | 'closing' | 'audit'
>;
