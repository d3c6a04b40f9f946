import type { ReactNode } from 'react';

/** Names and values, one pair per line. */
export function FactList({
  facts,
  isWide = false,
}: {
  facts: readonly (readonly [string, ReactNode])[];
  isWide?: boolean;
}) {
  return (
    <dl className={isWide ? 'facts facts-wide' : 'facts'}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
