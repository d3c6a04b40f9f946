import { Check, Copy as CopyIcon } from 'lucide-react';
import { useState } from 'react';
import { announce } from '../data/announce.ts';
import { t } from '../i18n/t.ts';

type Props = { text: string; label?: string; children?: React.ReactNode };

/** Copies `text`; shows `children` or the text itself. */
export function Copy({ text, label, children }: Props) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => undefined);
    setCopied(true);
    announce(t('Copied.'));
    setTimeout(() => setCopied(false), 1500);
  };
  const Icon = isCopied ? Check : CopyIcon;
  return (
    <button
      type="button"
      className="copy"
      aria-label={t('Copy {what}', { what: label ?? text })}
      onClick={() => void copy()}
    >
      <span className="copy-text">{children ?? text}</span>
      <Icon size={12} aria-hidden="true" />
    </button>
  );
}
