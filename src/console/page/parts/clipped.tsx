import { useState } from 'react';
import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';
import { formatBytes } from '../text/format.ts';
import { Button } from './button.tsx';

type Props = { text: string; limit: number; children: (text: string) => ReactNode };

/** The first `limit` characters of a text; the rest on request. */
export function Clipped({ text, limit, children }: Props) {
  const [isWhole, setWhole] = useState(false);
  const isClipped = text.length > limit && !isWhole;
  return (
    <>
      {children(isClipped ? text.slice(0, limit) : text)}
      {isClipped ? (
        <Button kind="quiet" onClick={() => setWhole(true)}>
          {t('Show all {size}', { size: formatBytes(text.length) })}
        </Button>
      ) : null}
    </>
  );
}
