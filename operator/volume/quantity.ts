const UNITS = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/** Bytes of a Kubernetes quantity: decimal (`2G`), binary (`512Mi`) or exponent (`1e9`). Throws for anything else. */
export function parseQuantity(text: string): number {
  const [, number, unit = '', binary, exponent] =
    /^(\d+(?:\.\d+)?)(?:([kMGTPE])|([KMGTPE])i|[eE]\+?(\d+))?$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`not a size: ${text}`);
  if (exponent !== undefined) return Number(number) * 10 ** Number(exponent);
  const place = binary === undefined ? UNITS.indexOf(unit) : UNITS.indexOf(binary === 'K' ? 'k' : binary);
  return Number(number) * (binary === undefined ? 1000 : 1024) ** place;
}

/** For display: `12Mi`, rounded up. */
export function formatQuantity(bytes: number): string {
  if (bytes > 0 && bytes % 2 ** 30 === 0) return `${bytes / 2 ** 30}Gi`;
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 2 ** 10)}Ki` : `${Math.ceil(bytes / 2 ** 20)}Mi`;
}
