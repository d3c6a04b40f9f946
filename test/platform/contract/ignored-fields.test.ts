import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AgentCreate } from '../../../src/agents/contract/agents.ts';
import { EventsSend } from '../../../src/agents/contract/events.ts';
import { listAllFields, listIgnoredFields } from '../../../src/platform/contract/ignored-fields.ts';

const AGENT = { name: 'a', modelName: 'm', systemPrompt: '', skills: [], tools: [] };

describe('the fields that a schema ignores', () => {
  it('are found at any depth, through lists, unions and defaults', () => {
    const body = {
      ...AGENT,
      model: 'm',
      skills: [{ name: 's', content: 'c', description: 'd' }],
      tools: [
        {
          type: 'agent_toolset',
          defaultConfig: { enabled: true, permissionPolicy: { type: 'always_allow', scope: 'x' } },
          configs: [{ name: 'terminal', permision: { type: 'always_deny' } }],
        },
      ],
      metadata: { anything: 'goes' },
    };
    const found = listIgnoredFields(AgentCreate, body);
    expect(found).toContain('model');
    expect(found).toContain('skills[0].description');
    expect(found).toContain('tools[0].defaultConfig.permissionPolicy.scope');
    expect(found).toContain('tools[0].configs[0].permision');
    expect(listIgnoredFields(AgentCreate, AGENT)).toEqual([]);
  });

  it('are those of the event that was sent', () => {
    const content = [{ type: 'text', text: 'hi', annotations: [] }];
    const body = { events: [{ type: 'user.message', content, attachmnets: [], metadata: { own: 1 } }] };
    expect(listIgnoredFields(EventsSend, body)).toEqual(['events[0].content[0].annotations', 'events[0].attachmnets']);
  });

  it('are none in objects that keep them, in records and in values of other types', () => {
    const schema = z.object({
      open: z.looseObject({}),
      map: z.record(z.string(), z.object({ a: z.string() })),
      any: z.any(),
    });
    expect(listIgnoredFields(schema, { open: { x: 1 }, map: { k: { a: '' } }, any: { y: 2 } })).toEqual([]);
    expect(listIgnoredFields(schema, { open: 1, map: { 'k,1': { a: '', b: '' } }, any: null })).toEqual([
      'map.k%2C1.b',
    ]);
    expect(listIgnoredFields(schema, null)).toEqual([]);
    expect(listIgnoredFields(z.string(), 'text')).toEqual([]);
  });

  it('are at most 20, fit for a header', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x${index}`, 1]));
    expect(listIgnoredFields(z.object({}), many)).toHaveLength(20);
    expect(listAllFields(many)).toHaveLength(20);
    const strange = { 'a, b\r\nset-cookie': 1, '\ud800': 1, ['long'.repeat(1000)]: 1, __proto__x: 1 };
    for (const name of listAllFields(strange)) expect(name).toMatch(/^[!-~]{1,900}$/);
    expect(listAllFields(undefined)).toEqual([]);
  });
});
