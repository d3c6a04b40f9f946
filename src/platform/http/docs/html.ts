const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Text that is HTML already. */
export type Html = { readonly html: string };

type Value = Html | string | number | false | undefined | readonly Html[];

function write(value: Value): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string') return escape(value);
  if (typeof value === 'number') return String(value);
  return 'html' in value ? value.html : value.map((item) => item.html).join('');
}

/** Escapes inserted values, except HTML made by the same tag. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return { html: parts.map((part, index) => part + write(values[index])).join('') };
}

/** Sentences with `code` in backquotes. */
export function renderProse(text: string): Html {
  const pieces = text
    .split('`')
    .map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
  return html`${pieces}`;
}
