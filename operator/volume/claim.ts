import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { OwnerReference } from '../../src/platform/kubernetes/resource.ts';
import type { Claim } from '../../src/platform/kubernetes/types.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import { buildOwner } from '../pod/build.ts';
import type { Controller } from '../runtime/controller.ts';

export function isClaimOf(claim: Claim, volume: Volume): boolean {
  return claim.metadata.ownerReferences?.some(({ uid }) => uid === volume.metadata.uid) === true;
}

/** The volume's claim: the one with its name, or the one that it took from a warm pool. */
export function findClaim({ claims }: Pick<Controller['caches'], 'claims'>, volume: Volume): Claim | undefined {
  const { name } = volume.metadata;
  return claims.get(name) ?? claims.find('volume', name).find((claim) => isClaimOf(claim, volume));
}

export const buildClaimLabels = (name: string, uid: string) => ({
  [LABELS.managedBy]: 'capstan-operator',
  [LABELS.volume]: name,
  [LABELS.volumeUid]: uid,
});

export type ClaimSpec = {
  storageClassName: string | undefined;
  volumeName?: string | undefined;
  dataSource?: object | undefined;
};

export function pickStorageClass({ options }: Controller, sandboxClass: SandboxClass | undefined) {
  return sandboxClass?.spec.volume?.storageClassName ?? options.storageClassName;
}

export function buildVolumeClaim(volume: Volume, size: string, spec: ClaimSpec) {
  const { name, namespace, uid } = volume.metadata;
  const labels = buildClaimLabels(name, uid);
  return buildClaim({ name, namespace, labels, owner: buildOwner('Volume', volume.metadata) }, size, spec);
}

type ClaimIdentity = { name: string; namespace: string; labels: Record<string, string>; owner: OwnerReference };

export function buildClaim({ name, namespace, labels, owner }: ClaimIdentity, size: string, spec: ClaimSpec) {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace, labels, ownerReferences: [owner] },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      ...omitUndefined(spec),
    },
  };
}
