import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  AGENT_SERVICE_EXAMPLES,
  AGENT_SERVICE_ROUTES,
  buildAgentsDocument,
} from '../../../src/agents/contract/document.ts';
import { ERROR_STATUS } from '../../../src/platform/contract/errors.ts';
import { PARAMETERS } from '../../../src/platform/contract/examples/example.ts';
import type { Example } from '../../../src/platform/contract/examples/example.ts';
import { OutboundPayload } from '../../../src/agents/contract/events.ts';
import { findMismatch, schemaOf } from '../../support/documented.ts';

type Parameter = { name: string; required: boolean; example?: unknown };
type Answer = {
  content: Record<string, { example?: unknown; examples?: Record<string, { value: { error: string } }> }>;
};
type Operation = { parameters?: Parameter[]; responses: Record<string, Answer> };

const examples: Record<string, Example> = AGENT_SERVICE_EXAMPLES;
const paths = buildAgentsDocument()['paths'] as Record<string, Record<string, Operation>>;

it('there are examples of every operation and of nothing else', () => {
  expect(Object.keys(examples).sort()).toEqual(AGENT_SERVICE_ROUTES.map((route) => route.id).sort());
});

describe.each(AGENT_SERVICE_ROUTES.map((route) => [route.id, route] as const))('%s', (id, route) => {
  const example = examples[id] ?? { answers: {} };
  const operation = paths[route.path]?.[route.method.toLowerCase()];

  it('shows parameters that it takes', () => {
    expect(route.params?.safeParse(PARAMETERS).success ?? true).toBe(true);
    const parsed = route.query?.safeParse(example.query ?? {}).success ?? true;
    expect(parsed).toBe(true);
    const bare = (operation?.parameters ?? []).filter(
      (parameter) => parameter.required && parameter.example === undefined,
    );
    expect(bare).toEqual([]);
    const known = route.query instanceof z.ZodObject ? Object.keys(route.query.shape) : [];
    expect(Object.keys(example.query ?? {}).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('shows a body that it takes, and takes none where it shows none', () => {
    const schema = route.body ?? route.media?.['application/json'];
    expect(example.body === undefined).toBe(schema === undefined);
    if (!(schema instanceof z.ZodType)) return;
    expect(schema.safeParse(example.body).error).toBeUndefined();
    const steps = ['paths', route.path, route.method.toLowerCase(), 'requestBody', 'content'];
    expect(findMismatch([...steps, 'application/json', 'schema'], example.body)).toBeUndefined();
  });

  it('shows every answer that it gives', () => {
    const shown = Object.entries(route.responses).filter(([, schema]) => schema !== 'binary');
    expect(Object.keys(example.answers)).toEqual(shown.map(([status]) => status));
    const wrong = shown.flatMap(([status, schema]) => {
      const answer = example.answers[Number(status)];
      if (schema instanceof z.ZodType) return schema.safeParse(answer).error ?? [];
      return /^id: .+\nevent: .+\ndata: \{.+\}\n\n$/.test(String(answer)) ? [] : [answer];
    });
    expect(wrong).toEqual([]);
    const json = shown.filter(([, schema]) => schema instanceof z.ZodType).map(([status]) => Number(status));
    expect(json.map((status) => findMismatch(schemaOf(route, status), example.answers[status]))).toEqual(
      json.map(() => undefined),
    );
  });

  it('shows a body for every code that it may answer with', () => {
    const errors = Object.entries(operation?.responses ?? {}).filter(([status]) => status >= '400');
    const codes = new Set<string>();
    for (const [status, { content }] of errors) {
      const bodies = Object.entries(content['application/json']?.examples ?? {});
      expect(bodies.length).toBeGreaterThan(0);
      for (const [code, { value }] of bodies) {
        codes.add(`${status} ${code}`);
        expect(value.error).toBe(code);
        expect(findMismatch(schemaOf(route, Number(status)), value)).toBeUndefined();
      }
    }
    for (const code of route.errors) {
      const shown = code === 'upstream_failed' || code === 'unavailable' ? 'server_error' : code;
      expect([...codes]).toContain(`${ERROR_STATUS[code]} ${shown}`);
    }
    expect([...codes]).toContain('401 unauthorized');
  });
});

it('a wrong example would be noticed', () => {
  const route = AGENT_SERVICE_ROUTES.find(({ id }) => id === 'getSession');
  if (route === undefined) throw new Error('gone');
  const wrong = { ...(examples['getSession']?.answers[200] as object), status: 'asleep' };
  expect(findMismatch(schemaOf(route, 200), wrong)).toContain('must be equal to one of the allowed values');
});

it('an envelope may hold any payload of the service', () => {
  const types = OutboundPayload.options.map(({ shape }) => shape.type.value);
  expect(new Set(types).size).toBe(types.length);
  expect(types).toContain('agent.thread_message_received');
});
