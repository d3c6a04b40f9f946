import { useState } from 'react';
import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';
import { formatBytes } from '../text/format.ts';
import { Button } from './button.tsx';

const STEP = 50_000;

type Props = { text: string; limit: number; children: (text: string) => ReactNode };

/** The first `limit` characters of a text; more on request, in steps that a browser lays out at once. */
export function Clipped({ text, limit, children }: Props) {
  const [shown, setShown] = useState(limit);
  const hidden = text.length - shown;
  return (
    <>
      {children(hidden > 0 ? text.slice(0, shown) : text)}
      {hidden > 0 ? (
        <Button kind="quiet" onClick={() => setShown(shown + Math.max(limit, STEP))}>
          {hidden <= Math.max(limit, STEP)
            ? t('Show all {size}', { size: formatBytes(text.length) })
            : t('Show more of {size}', { size: formatBytes(text.length) })}
        </Button>
      ) : null}
    </>
  );
}
