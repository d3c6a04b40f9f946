// Tests: test/roles/documents.test.ts, test/gateway/docs.test.ts
/** The parts of an OpenAPI document that the page shows. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  description?: string;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  oneOf?: Schema[];
  anyOf?: Schema[];
};

export type Parameter = { name: string; in: string; required: boolean; description?: string; schema: Schema };

export type Content = Record<string, { schema: Schema; example?: unknown }>;

export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  /** empty: open, without a key */
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; content: Content }>;
};

export type Document = {
  info: { title: string; version: string };
  tags: { name: string }[];
  /** of a document of several services: whose tag is whose */
  'x-tagGroups'?: { name: string; tags: string[] }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
