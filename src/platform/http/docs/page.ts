import type { Content, Document, Operation } from './document.ts';
import { html, renderProse } from './html.ts';
import type { Html } from './html.ts';
import { renderFields, renderSchema, renderType } from './schema.ts';
import { STYLE } from './style.ts';

type Entry = { method: string; path: string; operation: Operation };

function listEntries(document: Document): Entry[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function renderExample(example: unknown): Html {
  const text = typeof example === 'string' ? example.trimEnd() : JSON.stringify(example, null, 2);
  return html`<pre><code>${text}</code></pre>`;
}

function renderBody(content: Content): Html {
  const [[type, { schema, example }] = ['', { schema: {}, example: undefined }]] = Object.entries(content);
  return html`<p class="note">${type}</p>
    ${renderSchema(schema)} ${example !== undefined && renderExample(example)}`;
}

function renderParameters(operation: Operation): Html {
  const parameters = operation.parameters ?? [];
  if (parameters.length === 0) return html``;
  const fields = parameters.map(({ name, required, schema, description, in: where }) => ({
    name,
    required,
    schema,
    note: [`in ${where}`, description].filter((text) => text !== undefined).join(', '),
  }));
  return html`<h4>Parameters</h4>
    ${renderFields(fields)}`;
}

function renderResponses(operation: Operation): Html {
  const responses = Object.entries(operation.responses);
  const good = responses.filter(([status]) => status < '400');
  const bad = responses.filter(([status]) => status >= '400');
  return html`<h4>Answers</h4>
    ${good.map(
      ([status, { content }]) =>
        html`<p>
          <span class="status">${status}</span> ${Object.entries(content).map(([type, { schema }]) =>
            type === 'application/json' ? html`${renderType(schema)}` : html`<code>${type}</code>`,
          )}
        </p>`,
    )}
    <details>
      <summary>Fields of the answer</summary>
      ${good.map(([, { content }]) => renderBody(content))}
    </details>
    <p class="errors">
      ${bad.map(
        ([status, { description }]) =>
          html`<span><span class="status bad">${status}</span> ${renderProse(description)}</span> `,
      )}
    </p>`;
}

function renderEntry({ method, path, operation }: Entry): Html {
  const { requestBody } = operation;
  return html`<article id="${operation.operationId}">
    <h3><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></h3>
    <p class="summary">${operation.summary}.</p>
    ${operation.description !== undefined && html`<p class="note">${renderProse(operation.description)}</p>`}
    ${renderParameters(operation)}
    ${
      requestBody &&
      html`<h4>Body${requestBody.required ? '' : ' (may be left out)'}</h4>
        ${renderBody(requestBody.content)}`
    }
    ${renderResponses(operation)}
  </article>`;
}

type Group = { name: string; id: string; entries: Entry[] };

/** Tags with their operations, by service; of a document of one service the heading says nothing new. */
function listServices(document: Document): { name: string | undefined; groups: Group[] }[] {
  const entries = listEntries(document);
  const buildGroup = (name: string): Group => ({
    name,
    id: `tag-${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`,
    entries: entries.filter((entry) => entry.operation.tags.includes(name)),
  });
  const services = document['x-tagGroups'] ?? [{ name: undefined, tags: document.tags.map(({ name }) => name) }];
  return services.map(({ name, tags }) => ({ name, groups: tags.map(buildGroup) }));
}

function renderNavigation({ name, groups }: { name: string | undefined; groups: Group[] }): Html {
  return html`${name !== undefined && html`<p class="service">${name}</p>`}
  ${groups.map(
    (group) =>
      html`<h2><a href="#${group.id}">${group.name}</a></h2>
        <ul>
          ${group.entries.map(
            ({ method, path, operation }) =>
              html`<li>
                <a href="#${operation.operationId}" title="${operation.summary}"
                  ><span class="method ${method.toLowerCase()}">${method}</span
                  ><span class="path">${path.replace('/v1/', '')}</span></a
                >
              </li>`,
          )}
        </ul>`,
  )}`;
}

/** The first operation that anyone can try as it is. */
function findExample(document: Document): string {
  const plain = listEntries(document).find(
    ({ method, path, operation }) =>
      method === 'GET' && path.length > 1 && !path.includes('{') && operation.security?.length !== 0,
  );
  return plain?.path ?? '/';
}

/** The whole document as one page without scripts. */
export function renderPage(source: Record<string, unknown>, documentUrl: string): string {
  const document = source as unknown as Document;
  const { title, version } = document.info;
  const services = listServices(document);
  const schemas = Object.entries(document.components.schemas);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} ${version}</title>
        <style>
          ${{ html: STYLE }}
        </style>
      </head>
      <body>
        <nav aria-label="Operations">
          <p class="brand">Capstan</p>
          ${services.map(renderNavigation)}
          <h2><a href="#schemas">Shapes</a></h2>
        </nav>
        <main>
          <header>
            <h1>${title} <small>${version}</small></h1>
            <p>
              Send an API key with every request, as <code>x-api-key: cap_…</code> or
              <code>Authorization: Bearer cap_…</code>. Bodies are JSON, timestamps ISO 8601 in UTC. The
              machine-readable form of this page is <a href="${documentUrl}">${documentUrl}</a>. Fields marked
              <span class="required">*</span> are required.
            </p>
            <pre><code>curl -H "x-api-key: $CAPSTAN_API_KEY" $CAPSTAN_URL${findExample(document)}</code></pre>
          </header>
          ${services.flatMap(({ name, groups }) =>
            groups.map(
              (group) =>
                html`<section>
                  <h2 id="${group.id}">${group.name}${name !== undefined && html` <small>${name}</small>`}</h2>
                  ${group.entries.map(renderEntry)}
                </section>`,
            ),
          )}
          <section>
            <h2 id="schemas">Shapes</h2>
            ${schemas.map(
              ([name, schema]) =>
                html`<article id="schema-${name}">
                  <h3><code>${name}</code></h3>
                  ${renderSchema(schema)}
                </article>`,
            )}
          </section>
        </main>
      </body>
    </html>`.html;
}
