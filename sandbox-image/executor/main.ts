import { buildAuthorizer } from './receive/token.ts';
import { startServer } from './server.ts';
import { passProtectedPids } from './run/first-pid.ts';
import { readSettings } from './settings.ts';

const settings = readSettings(process.argv.slice(2));
if (settings.exitOnStdinEof)
  process.stdin
    .once('end', () => process.exit(0))
    .once('error', () => process.exit(0))
    .resume();
const [server] = await Promise.all([
  startServer(settings, settings.trust && buildAuthorizer(settings.trust)),
  settings.ownPids ? passProtectedPids() : undefined,
]);
// the parent process waits for this line
process.stdout.write('ready\n');

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void server.close().finally(() => process.exit(0));
  });
}
