// Tests: test/console/text.test.ts
/** Shown instead of amounts that are smaller still. */
const MIN_USD = 0.000001;

/** Small amounts keep the digits that say something: $0.000012, $0.0021, $0.08, $12.40. */
export function formatMoney(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return '–';
  if (usd === 0) return '$0';
  if (usd < MIN_USD) return `<$${MIN_USD.toLocaleString(undefined, { maximumFractionDigits: 6 })}`;
  // Two digits that count, counted from the first that is not zero.
  const digits = usd >= 0.1 ? 2 : 1 - Math.floor(Math.log10(usd));
  return `$${usd.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
}
