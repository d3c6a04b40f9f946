// Tests: test/operator/sandbox-class.test.ts, test/cluster/sandbox-class.test.ts
import { omitUndefined } from '../../src/platform/records.ts';
import { GROUP } from '../../src/platform/kubernetes/resource.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { PodOptions } from './build.ts';

/** The pod settings of a class. They override the operator's; resources are merged by name. */
export function applyClass(options: PodOptions, sandboxClass: SandboxClass | undefined): PodOptions {
  if (sandboxClass === undefined) return options;
  const { metadata, spec } = sandboxClass;
  const { image, resources, nodeSelector, tolerations, affinity, priorityClassName } = spec;
  const { runtimeClassName, schedulerName, imagePullSecrets, annotations, labels, hostUsers, egress } = spec;
  return {
    ...options,
    ...omitUndefined({ image, nodeSelector, tolerations, affinity, priorityClassName }),
    ...omitUndefined({ runtimeClassName, schedulerName, imagePullSecrets }),
    ...omitUndefined({ annotations: dropOwn(annotations), labels: dropOwn(labels) }),
    requests: { ...options.requests, ...resources?.requests },
    limits: { ...options.limits, ...resources?.limits },
    userNamespaces: hostUsers === undefined ? options.userNamespaces : !hostUsers,
    className: metadata.name,
    hasNoEgress: egress === 'None',
  };
}

/** The volume with the sizes of its class. */
export function applyVolumeClass(volume: Volume, sandboxClass: SandboxClass | undefined): Volume {
  const { initialSize, maxSize } = sandboxClass?.spec.volume ?? {};
  if (initialSize === undefined && maxSize === undefined) return volume;
  return { ...volume, spec: { ...volume.spec, ...omitUndefined({ initialSize, maxSize }) } };
}

/** Drops Capstan's own labels and annotations: pods are found and trusted by them. */
function dropOwn(texts: Record<string, string> | undefined): Record<string, string> | undefined {
  const isOwn = (name: string): boolean => name.startsWith(`${GROUP}/`) || name.startsWith('app.kubernetes.io/');
  return texts === undefined ? undefined : Object.fromEntries(Object.entries(texts).filter(([name]) => !isOwn(name)));
}
