export type Json = Record<string, unknown>;

/**
 * The OpenAPI documents of the services on a server, by name. The server offers each at `/openapi/<name>.json`, all of
 * them joined at `/openapi.json`, and the same as a page at `/docs`.
 */
export type ServiceDocuments = Readonly<Record<string, () => Json>>;

/** The parts that joining looks at. */
type Document = Json & {
  info: Json & { title: string };
  security: unknown[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Json>>;
  components: Record<string, Json>;
};

/** Puts the entries of `more` into `into`. Throws when both say something else of the same name. */
function merge(into: Json, more: Json, what: string): void {
  for (const [name, entry] of Object.entries(more)) {
    const present = into[name];
    if (present !== undefined && JSON.stringify(present) !== JSON.stringify(entry)) {
      throw new Error(`Two services describe ${what} ${name}, each in its own way.`);
    }
    into[name] = entry;
  }
}

/** Each operation with the security that its own document has for all. */
function secure({ paths, security }: Document): Document['paths'] {
  return Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [
          method,
          { ...operation, security: operation['security'] ?? security },
        ]),
      ),
    ]),
  );
}

/**
 * Several services behind one address, as one document; `x-tagGroups` tells which tags are whose. Throws when two of them
 * describe the same path, tag or component, each in its own way.
 */
export function joinDocuments(title: string, documents: readonly Json[]): Json {
  const all = documents as Document[];
  const [first] = all;
  if (first === undefined) throw new Error('No service has a document to join.');
  const paths: Document['paths'] = {};
  const tags: Record<string, { name: string }> = {};
  const components: Record<string, Json> = {};
  for (const document of all) {
    const alike = JSON.stringify(document.security) === JSON.stringify(first.security);
    merge(paths, alike ? document.paths : secure(document), 'the path');
    for (const tag of document.tags) {
      if (Object.hasOwn(tags, tag.name)) throw new Error(`Two services have the tag ${tag.name}.`);
      tags[tag.name] = tag;
    }
    for (const [kind, entries] of Object.entries(document.components)) {
      merge((components[kind] ??= {}), entries, `the component ${kind}`);
    }
  }
  return {
    ...first,
    info: { ...first.info, title },
    tags: Object.values(tags),
    'x-tagGroups': all.map((document) => ({ name: document.info.title, tags: document.tags.map(({ name }) => name) })),
    paths,
    components,
  };
}

/** The document of a server with these services: that of the only one, or all of them joined. */
export function buildServerDocument(services: ServiceDocuments): Json {
  const documents = Object.values(services).map((build) => build());
  const [only] = documents;
  return only !== undefined && documents.length === 1 ? only : joinDocuments('Capstan', documents);
}
