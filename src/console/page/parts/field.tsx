import { useId } from 'react';
import type { InputHTMLAttributes, ReactNode, TextareaHTMLAttributes } from 'react';

type Label = { label: string; help?: ReactNode };

export function TextField({ label, help, ...rest }: Label & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} {...rest} />
      {help === undefined ? null : <p className="meta">{help}</p>}
    </div>
  );
}

export function TextArea({ label, help, ...rest }: Label & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea id={id} {...rest} />
      {help === undefined ? null : <p className="meta">{help}</p>}
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
