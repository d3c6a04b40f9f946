import { createContext, useContext, useId } from 'react';
import type { InputHTMLAttributes, ReactNode, TextareaHTMLAttributes } from 'react';

type Label = { label: string; help?: ReactNode };

/** What the server refused in the form around a field, by the `name` of the field. */
export const FieldErrors = createContext<ReadonlyMap<string, string>>(new Map());

/** The texts below a field, and the attributes that tie them to it. */
function useNotes(id: string, name: string | undefined, help: ReactNode) {
  const error = useContext(FieldErrors).get(name ?? '');
  const notes = [
    help === undefined ? undefined : (
      <p key="help" id={`${id}-help`} className="meta">
        {help}
      </p>
    ),
    error === undefined ? undefined : (
      <p key="error" id={`${id}-error`} className="error-text">
        {error}
      </p>
    ),
  ].filter((each) => each !== undefined);
  const ids = notes.map(({ key }) => `${id}-${key}`).join(' ');
  return {
    notes,
    attributes: {
      ...(ids === '' ? {} : { 'aria-describedby': ids }),
      ...(error === undefined ? {} : { 'aria-invalid': true }),
    },
  };
}

export function TextField({ label, help, ...rest }: Label & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const { notes, attributes } = useNotes(id, rest.name, help);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} {...attributes} {...rest} />
      {notes}
    </div>
  );
}

export function TextArea({ label, help, ...rest }: Label & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  const { notes, attributes } = useNotes(id, rest.name, help);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea id={id} {...attributes} {...rest} />
      {notes}
    </div>
  );
}

type ChoiceProps = {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
  isInline?: boolean;
};

export function Choice({ label, value, options, onChange, isInline = false }: ChoiceProps) {
  const id = useId();
  return (
    <div className={isInline ? 'field field-inline' : 'field'}>
      <label htmlFor={id} className={isInline ? 'visually-hidden' : ''}>
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
