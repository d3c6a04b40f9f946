import type { ButtonHTMLAttributes } from 'react';

type Props = ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  hint?: string | undefined;
};

/** `hint` is the equivalent key. */
export function Button({ kind = 'plain', hint, className = '', children, ...rest }: Props) {
  return (
    <button type="button" className={`button button-${kind} ${className}`} {...rest}>
      {children}
      {hint === undefined ? null : <kbd aria-hidden="true">{hint}</kbd>}
    </button>
  );
}
