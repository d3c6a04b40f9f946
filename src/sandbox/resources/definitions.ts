// Tests: test/cluster/resources.test.ts
import { z } from 'zod';
import { GROUP, VERSION } from '../../platform/kubernetes/resource.ts';
import { SESSION_KIND, Session } from './session.ts';
import { SANDBOX_CLASS_KIND, SandboxClass } from './sandbox-class.ts';
import { VOLUME_KIND, Volume } from './volume.ts';

type Kind = typeof SESSION_KIND | typeof VOLUME_KIND | typeof SANDBOX_CLASS_KIND;

/** Keywords of zod's output that a structural schema of Kubernetes must not contain. */
const DROPPED = new Set(['$schema', 'additionalProperties', 'propertyNames', 'id', '$defs']);

/** Converts to a structural schema: plain OpenAPI 3.0 without references and rejected keywords. */
function buildStructural(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(buildStructural);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(([key, value]) => !DROPPED.has(key) || isMap(key, value));
  return Object.fromEntries(entries.map(([key, value]) => [key, buildStructural(value)]));
}

/** `additionalProperties` of a map has a schema; that of an object is `false`. */
function isMap(key: string, value: unknown): boolean {
  return key === 'additionalProperties' && typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function buildDefinition(kind: Kind, shape: z.ZodType): object {
  const { kind: name, plural, singular, shortNames, columns } = kind;
  const schema = buildStructural(z.toJSONSchema(shape, { io: 'input', reused: 'inline' })) as {
    properties: Record<string, unknown>;
  };
  const text = { type: 'string' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind: name,
        listKind: `${name}List`,
        plural,
        singular,
        shortNames: [...shortNames],
        categories: ['capstan'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {}, ...('scale' in kind ? { scale: kind.scale } : {}) },
          ...(kind.selectable.length === 0
            ? {}
            : { selectableFields: kind.selectable.map((jsonPath) => ({ jsonPath })) }),
          additionalPrinterColumns: columns.map((column) => ({ ...column })),
          schema: {
            openAPIV3Schema: {
              ...schema,
              properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, ...schema.properties },
            },
          },
        },
      ],
    },
  };
}

/** The CustomResourceDefinitions, by the name of their file in `crds/`. */
export function buildDefinitions(): Record<string, object> {
  return {
    [`${SESSION_KIND.plural}.${GROUP}.yaml`]: buildDefinition(SESSION_KIND, Session),
    [`${SANDBOX_CLASS_KIND.plural}.${GROUP}.yaml`]: buildDefinition(SANDBOX_CLASS_KIND, SandboxClass),
    [`${VOLUME_KIND.plural}.${GROUP}.yaml`]: buildDefinition(VOLUME_KIND, Volume),
  };
}
