import type { Registry } from 'prom-client';
import type { Bus } from '../backends/bus/bus.ts';
import type { Db } from '../backends/db/db.ts';
import type { Limits } from '../backends/limits/limits.ts';
import type { Objects } from '../backends/objects/objects.ts';
import type { Sandboxes } from '../backends/sandbox/sandbox.ts';
import type { Logger } from '../log.ts';
import type { MasterKeys } from '../master-key.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import type { Mcp } from '../mcp/mcp.ts';
import type { Vaults } from '../vault/resolve.ts';
import type { HttpDeps } from '../http/deps.ts';

/** What the role is given from outside. */
export type ApiPorts = {
  db: Db;
  bus: Bus;
  limits: Limits;
  sandboxes: Sandboxes;
  objects: Objects;
  masterKeys: MasterKeys;
  vaults: Vaults;
  mcp: Mcp;
  /** servers that installations may name */
  mcpCatalog: ConfigFile['mcpCatalog'];
  log: Logger;
  /** names that the configuration's `models` defines, beside `<provider>/<model>` */
  models: { has(name: string): boolean };
  /** shared by the roles of one process; absent: the server's own, with the default metrics */
  registry?: Registry;
};

/** What every handler gets. */
export type ApiDeps = ApiPorts & HttpDeps;
