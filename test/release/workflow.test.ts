import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

const Step = z.strictObject({
  id: z.string().optional(),
  name: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const Job = z.strictObject({
  needs: z.union([z.string(), z.array(z.string())]).optional(),
  'runs-on': z.string(),
  'timeout-minutes': z.int(),
  permissions: z.record(z.string(), z.enum(['read', 'write'])),
  env: z.record(z.string(), z.string()).optional(),
  outputs: z.record(z.string(), z.string()).optional(),
  steps: z.array(Step).min(1),
});
const Workflow = z.strictObject({
  name: z.string(),
  on: z.strictObject({ push: z.strictObject({ tags: z.array(z.string()) }) }),
  permissions: z.strictObject({}),
  concurrency: z.unknown(),
  jobs: z.record(z.string(), Job),
});

const text = read('.github/workflows/release.yml');
const workflow = Workflow.parse(parse(text));
const jobs = Object.entries(workflow.jobs);
const steps = jobs.flatMap(([, job]) => job.steps);
const scripts = steps.map(({ run = '' }) => run).join('\n');

test('every step runs a script or an action that is named by its commit', () => {
  for (const { uses, run } of steps) {
    expect([uses, run].filter((one) => one !== undefined)).toHaveLength(1);
  }
  const actions = steps.flatMap(({ uses }) => uses ?? []);
  expect(actions.filter((uses) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(uses))).toEqual([]);
});

test('jobs need jobs that exist, and outputs that those have', () => {
  for (const [name, job] of jobs) {
    const needs = [job.needs ?? []].flat();
    expect(needs.filter((one) => workflow.jobs[one] === undefined)).toEqual([]);
    const used = [...JSON.stringify(job).matchAll(/\bneeds\.(\w+)\.outputs\.(\w+)/g)];
    for (const [, other = '', output = ''] of used) {
      expect([name, needs, Object.keys(workflow.jobs[other]?.outputs ?? {})]).toEqual([
        name,
        expect.arrayContaining([other]),
        expect.arrayContaining([output]),
      ]);
    }
    const ids = new Set(job.steps.map(({ id }) => id));
    for (const [, id = ''] of JSON.stringify(job).matchAll(/\bsteps\.(\w+)\./g)) expect([...ids]).toContain(id);
  }
});

test('scripts take nothing of an event into their text', () => {
  expect(scripts).not.toContain('${{');
});

test('only jobs that sign have an identity, and none may write to the repository', () => {
  for (const [, job] of jobs) {
    const script = job.steps.map(({ run = '' }) => run).join('\n');
    expect(job.permissions['id-token'] === 'write').toBe(script.includes('cosign sign'));
    expect(job.permissions['contents']).toBe('read');
  }
});

test('packages are verified before anything is built', () => {
  const verify = workflow.jobs['verify']?.steps.map(({ run = '' }) => run).join('\n');
  expect(verify).toContain('npm audit signatures');
  expect(verify).toContain('node scripts/sbom.ts sbom.cdx.json');
  expect([workflow.jobs['images']?.needs].flat()).toContain('verify');
});

test('images are built for two architectures with provenance, and signed by digest, as is the chart', () => {
  const builds = steps.filter(({ uses = '' }) => uses.startsWith('docker/build-push-action@'));
  expect(new Set(builds.map(({ id }) => id))).toEqual(new Set(['capstan', 'media', 'sandbox']));
  for (const build of builds) {
    expect(build.with).toMatchObject({ platforms: 'linux/amd64,linux/arm64', provenance: 'mode=max', sbom: true });
    const file = read(String(build.with?.['file']));
    for (const [, name = ''] of String(build.with?.['build-args']).matchAll(/^(\w+)=/gm)) {
      expect(file).toMatch(new RegExp(`^ARG ${name}=`, 'm'));
    }
  }
  const signed = scripts.match(/cosign (?:sign|attest) .*/g) ?? [];
  expect(signed).toHaveLength(3);
  expect(signed.join('\n')).not.toMatch(/:\$VERSION/);
  expect(scripts).toMatch(/capstan@\$CAPSTAN.*capstan-media@\$MEDIA.*capstan-sandbox@\$SANDBOX/);
  expect(scripts).toContain('cosign sign --yes "$REGISTRY/charts/capstan@$digest"');
});
