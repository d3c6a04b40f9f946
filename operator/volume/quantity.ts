const UNITS = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/** Bytes of a storage quantity of Kubernetes, in each of its three forms; throws for what is none. */
export function parseQuantity(text: string): number {
  const [, number, unit = '', binary, exponent] =
    /^(\d+(?:\.\d+)?)(?:([kMGTPE])|([KMGTPE])i|[eE]\+?(\d+))?$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`not a size: ${text}`);
  if (exponent !== undefined) return Number(number) * 10 ** Number(exponent);
  const place = binary === undefined ? UNITS.indexOf(unit) : UNITS.indexOf(binary === 'K' ? 'k' : binary);
  return Number(number) * (binary === undefined ? 1000 : 1024) ** place;
}

/** For people: `12Mi`, rounded up. */
export function formatQuantity(bytes: number): string {
  if (bytes > 0 && bytes % 2 ** 30 === 0) return `${bytes / 2 ** 30}Gi`;
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 2 ** 10)}Ki` : `${Math.ceil(bytes / 2 ** 20)}Mi`;
}
