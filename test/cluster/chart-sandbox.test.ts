import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { IMAGES, findHelm, renderChart } from '../support/cluster/chart.ts';

type Manifest = { kind: string; metadata: { name: string; namespace?: string }; spec: object };

/** What the chart renders for spare capacity, by kind. */
async function renderSpare(...sets: string[]): Promise<Map<string, Manifest>> {
  const rendered = parseAllDocuments(await renderChart('space', IMAGES, ...sets)).map(
    (document) => document.toJS() as Manifest,
  );
  const spare = rendered.filter(({ metadata }) => metadata.name.endsWith('-spare'));
  return new Map(spare.map((manifest) => [manifest.kind, manifest]));
}

describe.skipIf(findHelm() === undefined)('spare capacity for sandboxes', () => {
  test('is not kept unless it is asked for', async () => {
    expect((await renderSpare()).size).toBe(0);
  });

  test('is a number of pods of a sandbox, which every other pod preempts', async () => {
    const spare = await renderSpare('sandbox.spare.replicas=3', 'sandbox.cpu=250m\\,1');
    expect([...spare.keys()].sort()).toEqual(['Deployment', 'NetworkPolicy', 'PriorityClass']);
    const deployment = spare.get('Deployment');
    expect(deployment?.metadata.namespace).toBe('demo-capstan-sandboxes');
    const priorityClassName = spare.get('PriorityClass')?.metadata.name;
    expect(spare.get('PriorityClass')).toMatchObject({ value: -10, preemptionPolicy: 'Never' });
    const container = { resources: { requests: { cpu: '250m' } } };
    expect(deployment?.spec).toMatchObject({
      replicas: 3,
      template: { spec: { priorityClassName, containers: [container] } },
    });
  });

  test('is sized by a metric, which has to be named', async () => {
    const scaled = 'sandbox.spare.autoscaling.enabled=true';
    await expect(renderSpare(scaled)).rejects.toThrow('name the metric');
    const spare = await renderSpare(scaled, 'sandbox.spare.autoscaling.metrics[0].type=External');
    expect(spare.has('HorizontalPodAutoscaler')).toBe(true);
    expect(spare.get('Deployment')?.spec).not.toHaveProperty('replicas');
  });
});

describe.skipIf(findHelm() === undefined)('the default class of sandboxes', () => {
  test('is told to the services that request pods', async () => {
    const told = (manifests: string) => manifests.match(/CAPSTAN_SANDBOX_CLASS, value: "standard"/g)?.length;
    expect(told(await renderChart('space', IMAGES))).toBeUndefined();
    expect(told(await renderChart('space', IMAGES, 'sandbox.defaultClass=standard'))).toBe(2);
  });
});
