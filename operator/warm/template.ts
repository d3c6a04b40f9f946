import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { VolumeSpec } from '../../src/sandbox/resources/volume.ts';
import { LABELS, TEMPLATE_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import { sha256 } from '../../src/platform/crypto.ts';
import { SAFE_TO_EVICT_ANNOTATION, buildExecutorPod, buildOwner } from '../pod/build.ts';
import type { PodBody } from '../pod/build.ts';
import { applyClass } from '../pod/sandbox-class.ts';
import type { Controller } from '../runtime/controller.ts';
import { buildClaim, pickStorageClass } from '../volume/claim.ts';

/** How the pods of a warm pool and their claims are made. */
export type Template = {
  /** of everything but the names: a volume takes a pod only if it would make the same one */
  fingerprint: string;
  buildPod(name: string): PodBody;
  /** The claim is deleted with its pod until a volume takes both. */
  buildClaim(pod: Pick<ResourceMeta, 'name' | 'uid'>): ReturnType<typeof buildClaim>;
};

export type TemplateFiles = Pick<VolumeSpec, 'publicKey' | 'initialSize' | 'maxSize'>;

export function buildTemplate(controller: Controller, sandboxClass: SandboxClass, files: TemplateFiles): Template {
  const { namespace, options } = controller;
  const { metadata } = sandboxClass;
  const podOptions = applyClass(options.pod, sandboxClass);
  const storage = { storageClassName: pickStorageClass(controller, sandboxClass) };
  const labels = { [LABELS.sandboxClass]: metadata.name, [LABELS.warm]: 'true' };
  const build = (name: string, annotations: Record<string, string>) =>
    buildExecutorPod({ ...files, namespace, claimName: name }, podOptions, {
      name,
      owner: buildOwner('SandboxClass', metadata),
      labels,
      annotations: { ...annotations, [SAFE_TO_EVICT_ANNOTATION]: 'true' },
    });
  const parts = [build('', {}), storage, files.initialSize];
  const fingerprint = sha256(JSON.stringify(parts)).slice(0, 16);
  return {
    fingerprint,
    buildPod: (name) => build(name, { [TEMPLATE_ANNOTATION]: fingerprint }),
    buildClaim(pod) {
      const owner = { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid, controller: true };
      const identity = {
        name: pod.name,
        namespace,
        labels: { ...labels, [LABELS.managedBy]: 'capstan-operator' },
        owner,
      };
      return buildClaim(identity, files.initialSize, storage);
    },
  };
}
