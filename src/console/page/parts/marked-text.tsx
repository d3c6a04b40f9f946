import { Fragment, useMemo } from 'react';
import { t } from '../i18n/t.ts';
import { splitInvisible } from '../text/invisible.ts';

/** Text with visible marks for invisible characters. */
export function MarkedText({ text }: { text: string }) {
  const segments = useMemo(() => splitInvisible(text), [text]);
  return segments.map((segment, index) =>
    segment.isMark ? (
      <mark key={index} className="invisible" title={t('invisible character')}>
        {segment.text}
      </mark>
    ) : (
      <Fragment key={index}>{segment.text}</Fragment>
    ),
  );
}
