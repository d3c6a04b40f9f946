const UNITS: Record<string, number> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Bytes of a storage quantity of Kubernetes; throws for what is none. */
export function parseQuantity(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([kMGT]|[KMGT]i)?$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (number === undefined || factor === undefined) throw new Error(`not a size: ${text}`);
  return Number(number) * factor;
}

/** For people: `12Mi`, rounded up. */
export function formatQuantity(bytes: number): string {
  if (bytes > 0 && bytes % 2 ** 30 === 0) return `${bytes / 2 ** 30}Gi`;
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 2 ** 10)}Ki` : `${Math.ceil(bytes / 2 ** 20)}Mi`;
}
