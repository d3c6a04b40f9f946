import { X } from 'lucide-react';
import { useEffect, useId, useRef } from 'react';
import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';

type Props = { title: string; onClose?: (() => void) | undefined; children: ReactNode; className?: string };

/**
 * A modal dialog of the browser: it traps the focus, closes on Escape and restores the focus. Without `onClose` it
 * stays open.
 */
export function Dialog({ title, onClose, children, className = '' }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element?.open === false) element.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`dialog ${className}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose?.();
      }}
    >
      <div className="dialog-box">
        <header className="dialog-head">
          <h2 id={titleId}>{title}</h2>
          {onClose === undefined ? null : (
            <button type="button" className="icon-button" aria-label={t('Close')} onClick={onClose}>
              <X size={16} aria-hidden="true" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
