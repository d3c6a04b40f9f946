import { afterAll, beforeAll, describe } from 'vitest';
import type { Operator } from '../../operator/start.ts';
import { openKubernetesSandboxes } from '../../src/sandbox/kubernetes/kubernetes.ts';
import { buildSigner } from '../../src/sandbox/executor/token.ts';
import { openLog } from '../../src/platform/log.ts';
import { findCluster } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startNode } from '../support/cluster/kubelet.ts';
import type { Node } from '../support/cluster/kubelet.ts';
import { openOperator } from '../support/cluster/operator.ts';
import { openRuntime } from '../support/cluster/runtime.ts';
import { describeSandboxes } from '../support/sandbox-suite.ts';

const found = await findCluster();

/** The port's own suite, over the API server, the operator and executors on TCP. */
describe.skipIf(found === undefined)('on Kubernetes', () => {
  let cluster: Cluster;
  let node: Node;
  let operator: Operator;
  let runtime: ReturnType<typeof openRuntime>;

  beforeAll(async () => {
    cluster = found as Cluster;
    runtime = openRuntime();
    node = startNode(cluster.kubernetes, cluster.namespace, runtime);
    operator = await openOperator(cluster);
  });
  afterAll(async () => {
    await operator?.close();
    await node?.close();
    runtime?.close();
    await cluster?.kubernetes.close();
  });

  describeSandboxes('kubernetes', async () => {
    const log = openLog({ level: 'silent', pretty: false });
    const signer = buildSigner(Buffer.alloc(32, 3).toString('base64'));
    const { kubernetes, namespace } = cluster;
    const sandboxes = await openKubernetesSandboxes({ kubernetes, namespace, signer, log });
    return { sandboxes, close: () => sandboxes.close() };
  });
});
