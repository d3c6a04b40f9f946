import { errorText } from '../../platform/errors.ts';
import { GROW_AT } from '../resources/volume.ts';
import type { Logger } from '../../platform/log.ts';
import type { Connection } from './connections.ts';
import type { Resources } from './resources.ts';

/** An executor is polled at most this often. */
const PAUSE_MS = 1000;
const UNITS: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/**
 * Checks after calls whether the volume is full enough to grow, and reports it to the operator, which polls only now and
 * then. Writes once for each size of a volume.
 */
export function openUsageReporter(resources: Pick<Resources, 'volumes' | 'reportUsage'>, log: Logger) {
  const { volumes } = resources;
  /** volumes being checked or in the pause after a check; true: check again afterwards */
  const checking = new Map<string, boolean>();
  /** by volume: the size for which high usage was reported */
  const reported = new Map<string, string>();

  const report = async (name: string, connection: Connection): Promise<void> => {
    const { spec, status } = volumes.get(name) ?? {};
    const { size } = status ?? {};
    const bytes = readSize(size);
    if (size === undefined || bytes === undefined || size === spec?.maxSize || reported.get(name) === size) return;
    const { usedBytes = 0 } = await connection.client.health();
    if (usedBytes <= bytes * GROW_AT) return;
    reported.set(name, size);
    await resources.reportUsage(name, usedBytes);
  };

  /** Runs in the background: its outcome does not affect the call. */
  const check = (name: string, connection: Connection): void => {
    if (checking.has(name)) return void checking.set(name, true);
    checking.set(name, false);
    const recheck = (): void => {
      const isRequested = checking.get(name) === true;
      checking.delete(name);
      if (isRequested) check(name, connection);
    };
    report(name, connection)
      .catch((error: unknown) => {
        reported.delete(name);
        log.warn({ volume: name, error: errorText(error) }, 'could not report the usage of a volume');
      })
      .finally(() => setTimeout(recheck, PAUSE_MS).unref());
  };

  volumes.onChange((name, volume) => {
    if (volume === undefined) reported.delete(name);
  });
  return { check };
}

/** Bytes of a size as the operator writes it; undefined for anything else. */
export function readSize(text: string | undefined): number | undefined {
  const [, number, unit = ''] = /^(\d+)(Ki|Mi|Gi)$/.exec(text ?? '') ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit] ?? 1);
}
