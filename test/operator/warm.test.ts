import { expect, test } from 'vitest';
import { decideWarmPool } from '../../operator/warm/decide.ts';
import type { WarmInput } from '../../operator/warm/decide.ts';
import { TEMPLATE_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';

const NOW = new Date('2026-05-01T12:00:00Z');
const READY = { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] };

const newPod = (name: string, over: { status?: Pod['status']; ageMs?: number; template?: string } = {}): Pod => ({
  metadata: {
    name,
    namespace: 'n',
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: new Date(NOW.getTime() - (over.ageMs ?? 60_000)).toISOString(),
    annotations: { [TEMPLATE_ANNOTATION]: over.template ?? 't1' },
  },
  spec: {},
  status: over.status ?? READY,
});
const newClaim = (owner: string): Claim => ({
  metadata: { name: 'c', namespace: 'n', uid: 'c', resourceVersion: '1', ownerReferences: [{ uid: owner }] },
  spec: {},
});
const decide = (target: number, pods: Pod[], over: Partial<WarmInput> = {}) =>
  decideWarmPool({
    target,
    pods,
    findClaim: (name) => newClaim(`uid-${name}`),
    template: 't1',
    now: NOW,
    ...over,
  });
const names = (pods: Pod[]) => pods.map(({ metadata }) => metadata.name);

test('missing pods are created, ten at a time, and each gets its claim', () => {
  expect(decide(3, [newPod('a')])).toMatchObject({ create: 2, remove: [], pods: 1, ready: 1 });
  expect(decide(50, []).create).toBe(10);
  const plan = decide(1, [newPod('a')], { findClaim: () => undefined });
  expect([plan.create, names(plan.claimless), plan.remove]).toEqual([0, ['a'], []]);
});

test('of too many pods those that are not ready go first, then the youngest', () => {
  const pods = [newPod('young', { ageMs: 1000 }), newPod('unready', { status: {} }), newPod('old')];
  expect(names(decide(2, pods).remove)).toEqual(['unready']);
  expect(names(decide(1, pods).remove)).toEqual(['young', 'unready']);
});

test('a pod of another template, and one whose claim a volume took, are replaced', () => {
  const changed = decide(1, [newPod('a', { template: 't0' })]);
  expect([names(changed.remove), changed.create]).toEqual([['a'], 1]);
  const bereft = decide(1, [newPod('a')], { findClaim: () => newClaim('a volume') });
  expect([names(bereft.remove), bereft.create]).toEqual([['a'], 1]);
});

test('a pod that ended is replaced half a minute after its creation', () => {
  const ended = { phase: 'Failed' };
  const recent = decide(1, [newPod('a', { status: ended, ageMs: 1000 })]);
  expect([names(recent.remove), recent.create]).toEqual([[], 0]);
  const past = decide(1, [newPod('a', { status: ended })]);
  expect([names(past.remove), past.create]).toEqual([['a'], 1]);
});

test('the condition says whether the pool is complete, and why not', () => {
  const stuck = {
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
  };
  expect(decide(1, [newPod('a')]).condition).toMatchObject({ status: 'True', reason: 'WarmReady' });
  expect(decide(2, [newPod('a')]).condition).toMatchObject({ status: 'False', reason: 'WarmStarting' });
  expect(decide(1, [newPod('a', { status: stuck })]).condition).toMatchObject({
    reason: 'Unschedulable',
    message: expect.stringContaining('0/3 nodes') as string,
  });
  const fresh = newPod('a', { status: stuck, ageMs: 1000 });
  expect(decide(1, [fresh]).condition).toMatchObject({ reason: 'WarmStarting' });
  expect(decide(1, [], { template: undefined })).toMatchObject({ create: 0, condition: { reason: 'KeyUnknown' } });
});
