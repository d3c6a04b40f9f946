import { useEffect, useRef, useState } from 'react';
import type { FormEvent, ReactNode } from 'react';
import { t } from '../i18n/t.ts';
import { readFieldErrors } from '../text/field-errors.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';
import { FieldErrors } from './field.tsx';

type Props = {
  title: string;
  action: string;
  /** what the button says meanwhile */
  busyAction?: string;
  isDisabled?: boolean;
  /** Sends the form. What it throws is shown: below the fields that the message names, or else above the buttons. */
  onSubmit: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
};

const NONE: ReadonlyMap<string, string> = new Map();

/** A form in a dialog. The `name` of a field is its path in the body of the request, such as `auth.token`. */
export function FormDialog({ title, action, busyAction, isDisabled = false, onSubmit, onClose, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [error, setError] = useState<unknown>();
  const [fieldErrors, setFieldErrors] = useState(NONE);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    // An opening dialog focuses its first button, which closes it.
    form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, []);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [fieldErrors]);
  const refuse = (thrown: unknown) => {
    const found = readFieldErrors(thrown instanceof Error ? thrown.message : '');
    const fields = [...found.keys()].map((name) => form.current?.elements.namedItem(name));
    setFieldErrors(found);
    // A field that the form does not have cannot show its error.
    const isShown = fields.length > 0 && fields.every((field) => field instanceof HTMLElement);
    setError(isShown ? undefined : thrown);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    setFieldErrors(NONE);
    setBusy(true);
    await onSubmit().catch(refuse);
    setBusy(false);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={form} className="form" onSubmit={(event) => void submit(event)}>
        <FieldErrors value={fieldErrors}>{children}</FieldErrors>
        {error === undefined ? null : <ErrorNote error={error} />}
        <div className="dialog-foot">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="primary" type="submit" disabled={isBusy || isDisabled}>
            {isBusy ? (busyAction ?? action) : action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
