import * as fc from 'fast-check';

/**
 * The same cases in every run, so that a failure is one of the change under test. `CAPSTAN_PROPERTY_SEED=random`, or a
 * number, tries others.
 */
const setting = process.env['CAPSTAN_PROPERTY_SEED'] ?? '1';
if (setting !== 'random') fc.configureGlobal({ seed: Number(setting) });

export { fc };
