import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';
import { Button } from './button.tsx';
import { Clipped } from './clipped.tsx';
import { MarkedText } from './marked-text.tsx';

/** Entries of one object or list that are shown at once. */
const PAGE = 100;
const MAX_STRING = 4000;
const MAX_KEY = 200;
const MAX_DEPTH = 60;

function Scalar({ value }: { value: unknown }) {
  if (typeof value !== 'string')
    return <span className={`json-${value === null ? 'null' : typeof value}`}>{String(value)}</span>;
  return (
    <span className="json-string">
      <Clipped text={value} limit={MAX_STRING}>
        {(shown) => (
          <>
            "<MarkedText text={shown} />"
          </>
        )}
      </Clipped>
    </span>
  );
}

function Branch({ value, depth, name }: { value: object; depth: number; name: ReactNode }) {
  const entries = Object.entries(value);
  const [isOpen, setOpen] = useState(depth < 2);
  const [shown, setShown] = useState(PAGE);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0 || depth > MAX_DEPTH) {
    return (
      <div className="json-line">
        {name}
        {entries.length === 0 ? `${open}${close}` : '…'}
      </div>
    );
  }
  return (
    <div>
      <button type="button" className="json-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronRight size={12} aria-hidden="true" className={isOpen ? 'turned' : ''} />
        {name}
        {isOpen ? open : `${open} ${entries.length} ${close}`}
      </button>
      {isOpen ? (
        <div className="json-children">
          {entries.slice(0, shown).map(([key, each]) => (
            <JsonNode key={key} name={Array.isArray(value) ? undefined : key} value={each} depth={depth + 1} />
          ))}
          {entries.length > shown ? (
            <Button kind="quiet" onClick={() => setShown(shown + PAGE * 10)}>
              {t('Show {n} more', { n: entries.length - shown })}
            </Button>
          ) : null}
        </div>
      ) : null}
      {isOpen ? <div className="json-line">{close}</div> : null}
    </div>
  );
}

function JsonNode({ name, value, depth }: { name: string | undefined; value: unknown; depth: number }) {
  const label =
    name === undefined ? null : (
      <span className="json-key">
        <MarkedText text={name.length > MAX_KEY ? `${name.slice(0, MAX_KEY)}…` : name} />:{' '}
      </span>
    );
  if (typeof value === 'object' && value !== null) return <Branch value={value} depth={depth} name={label} />;
  return (
    <div className="json-line">
      {label}
      <Scalar value={value} />
    </div>
  );
}

/** Any JSON value as a tree whose parts open and close. */
export function JsonView({ value }: { value: unknown }) {
  return (
    <div className="json" tabIndex={0}>
      <JsonNode name={undefined} value={value} depth={0} />
    </div>
  );
}
