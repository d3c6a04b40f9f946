import { openLocalSandboxes } from '../../support/sandbox.ts';

/** Opens the sandboxes and closes them again; prints how that went. With `unwrapped` as argument, isolation may be off. */
try {
  const local = await openLocalSandboxes({ allowUnwrapped: process.argv[2] === 'unwrapped' });
  await local.close();
  process.stdout.write('started\n');
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
}
