import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';

const PATIENCE_MS = 150;

/** Placeholder rows with the height of the content. They are not seen for 150 ms, but take their place at once. */
export function Skeleton({ rows = 6, height = 36 }: { rows?: number; height?: 36 | 64 | 160 | 260 }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={isShown ? 'skeleton' : 'skeleton skeleton-unseen'} role="status" aria-label={t('Loading')}>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className={`skeleton-row skeleton-${height}`} />
      ))}
    </div>
  );
}

/** One sentence, and a first action. */
export function Empty({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p>{text}</p>
      {children}
    </div>
  );
}
