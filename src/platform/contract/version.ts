import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The version of this release: of the package, the server, the chart and the OpenAPI documents. */
export const VERSION = version;
