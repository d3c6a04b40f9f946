import { errorText } from '../../platform/errors.ts';
import { GROW_AT } from '../resources/volume.ts';
import type { Logger } from '../../platform/log.ts';
import type { Link } from './links.ts';
import type { Resources } from './resources.ts';

/** Executors are asked this often at most, while calls follow each other. */
const PAUSE_MS = 1000;
const UNITS: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/**
 * Looks, after calls, whether they have filled their volume past the part at which it grows, and tells the operator, which
 * asks by itself only now and then. One write for each time that a volume fills up.
 */
export function openUsageReports({ volumes, reportUsage }: Pick<Resources, 'volumes' | 'reportUsage'>, log: Logger) {
  /** volumes that are looked at, or were a moment ago; true: and again after the pause */
  const looking = new Map<string, boolean>();
  /** the size for which each was told of */
  const told = new Map<string, string>();

  const report = async (name: string, link: Link): Promise<void> => {
    const { spec, status } = volumes.get(name) ?? {};
    const { size } = status ?? {};
    const bytes = readSize(size);
    if (size === undefined || bytes === undefined || size === spec?.maxSize || told.get(name) === size) return;
    const { usedBytes = 0 } = await link.client.health();
    if (usedBytes <= bytes * GROW_AT) return;
    told.set(name, size);
    await reportUsage(name, usedBytes);
  };

  /** Not waited for: what it comes to changes nothing of the call. */
  const look = (name: string, link: Link): void => {
    if (looking.has(name)) return void looking.set(name, true);
    looking.set(name, false);
    const again = (): void => {
      const isWanted = looking.get(name) === true;
      looking.delete(name);
      if (isWanted) look(name, link);
    };
    report(name, link)
      .catch((error: unknown) => {
        told.delete(name);
        log.warn({ volume: name, error: errorText(error) }, 'a volume that fills could not be told of');
      })
      .finally(() => setTimeout(again, PAUSE_MS).unref());
  };

  volumes.onChange((name, volume) => {
    if (volume === undefined) told.delete(name);
  });
  return { look };
}

/** Bytes of a size as the operator tells it; undefined for what is none. */
export function readSize(text: string | undefined): number | undefined {
  const [, number, unit = ''] = /^(\d+)(Ki|Mi|Gi)$/.exec(text ?? '') ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit] ?? 1);
}
