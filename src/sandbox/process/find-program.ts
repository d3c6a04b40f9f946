import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** The first executable of this name in these folders, each of which may be a list as in PATH. */
export function findProgram(places: string[], name: string): string | undefined {
  return places
    .flatMap((place) => place.split(delimiter))
    .map((place) => resolve(join(place, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
