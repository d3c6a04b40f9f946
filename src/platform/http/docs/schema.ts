import type { Schema } from './document.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';

function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function joinWith(items: readonly Html[], separator: string): Html {
  return html`${items.flatMap((item, index) => (index === 0 ? [item] : [html`${separator}`, item]))}`;
}

/** One line: the type as a person would say it. */
export function renderType(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = refName(schema.$ref);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum !== undefined) {
    return joinWith(
      schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ' | ',
    );
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return joinWith(choices.map(renderType), ' | ');
  if (schema.type === 'array') return html`array of ${renderType(schema.items ?? {})}`;
  if (schema.type === undefined) return html`any`;
  return html`${[schema.type].flat().join(' | ')}`;
}

function describeRange(minimum: number | undefined, maximum: number | undefined, unit: string): string[] {
  if (minimum === undefined && maximum === undefined) return [];
  const number = (value: number) => value.toLocaleString('en');
  if (maximum === undefined) return [`at least ${number(minimum ?? 0)}${unit}`];
  if (minimum === undefined) return [`at most ${number(maximum)}${unit}`];
  return [`${number(minimum)} to ${number(maximum)}${unit}`];
}

function describeBounds(schema: Schema): string[] {
  return [
    ...describeRange(schema.minimum, schema.maximum, ''),
    ...describeRange(schema.minLength, schema.maxLength, ' characters'),
    ...describeRange(schema.minItems, schema.maxItems, ' items'),
    ...(schema.format === undefined ? [] : [schema.format]),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
    ...(schema.description === undefined ? [] : [schema.description]),
  ];
}

export type Field = { name: string; required: boolean; schema: Schema; note?: string | undefined };

export function renderFields(fields: readonly Field[]): Html {
  const rows = fields.map(
    ({ name, required, schema, note }) =>
      html`<tr>
        <th scope="row"><code>${name}</code>${required && html`<span class="required" title="required">*</span>`}</th>
        <td>${renderType(schema)}</td>
        <td class="note">${[note, ...describeBounds(schema)].filter((text) => text !== undefined).join(', ')}</td>
      </tr>`,
  );
  return html`<div class="table">
    <table>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** An object as a table of its fields, with the objects inside it below; anything else as one line. */
export function renderSchema(schema: Schema): Html {
  const entries = Object.entries(schema.properties ?? {});
  if (entries.length === 0) {
    return html`<p>${renderType(schema)} <span class="note">${describeBounds(schema).join(', ')}</span></p>`;
  }
  const required = new Set(schema.required);
  const nested = entries.flatMap(([name, item]) => {
    const inner = item.type === 'array' ? (item.items ?? {}) : item;
    return inner.properties === undefined
      ? []
      : [
          html`<p class="inner"><code>${name}</code></p>
            ${renderSchema(inner)}`,
        ];
  });
  return html`${renderFields(
    entries.map(([name, item]) => ({ name, required: required.has(name), schema: item })),
  )}${nested}`;
}
