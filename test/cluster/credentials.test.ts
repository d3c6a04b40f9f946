import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openKubernetes } from '../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { findCluster } from '../support/cluster/cluster.ts';
import { makeScratch } from '../support/scratch.ts';

const cluster = await findCluster();

type Review = { status: { userInfo: { username: string } } };

async function askWhoAmI(kubernetes: Kubernetes): Promise<string> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  return (await kubernetes.request<Review>({ method: 'POST', path, body })).status.userInfo.username;
}

describe.skipIf(cluster === undefined)('credentials', () => {
  if (cluster === undefined) return;
  const { kubernetes, kubeconfig, namespace } = cluster;

  /** Files of a pod with a new service account, and a new token for it. */
  const makeAccount = async (name: string) => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
    await kubernetes.request({ method: 'POST', path, body: account });
    const { clusters } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
      clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
    };
    const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
    const folder = makeScratch('account');
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'ca.crt'), Buffer.from(ca, 'base64'));
    writeFileSync(join(folder, 'namespace'), namespace);
    const { hostname, port } = new URL(server);
    return {
      pod: { host: hostname, port: Number(port), folder },
      writeToken: (token: string) => writeFileSync(join(folder, 'token'), `${token}\n`),
      requestToken: async (): Promise<string> => {
        const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
        type Answer = { status: { token: string } };
        const answer = await kubernetes.request<Answer>({ method: 'POST', path: `${path}/${name}/token`, body });
        return answer.status.token;
      },
    };
  };

  it("takes a pod's service account and its namespace", async () => {
    const { pod, writeToken, requestToken } = await makeAccount('in-a-pod');
    writeToken(await requestToken());
    const own = await openKubernetes({ pod });
    expect(own.namespace).toBe(namespace);
    expect(await askWhoAmI(own)).toBe(`system:serviceaccount:${namespace}:in-a-pod`);
    await own.close();
  });

  it('takes a token that was exchanged as soon as the former one is refused', async () => {
    const { pod, writeToken, requestToken } = await makeAccount('exchanged');
    writeToken('expired');
    const own = await openKubernetes({ pod });
    await expect(askWhoAmI(own)).rejects.toMatchObject({ status: 401 });
    writeToken(await requestToken());
    expect(await askWhoAmI(own)).toBe(`system:serviceaccount:${namespace}:exchanged`);
    await own.close();
  });

  it('says what is missing where a pod has no token', async () => {
    const { pod } = await makeAccount('without-token');
    const home = process.env['HOME'];
    onTestFinished(() => void (process.env['HOME'] = home));
    process.env['HOME'] = pod.folder;
    await expect(openKubernetes({ pod })).rejects.toThrow(/no service account token .* automountServiceAccountToken/);
  });

  it('trusts no server that another authority vouches for', async () => {
    const { pod, writeToken, requestToken } = await makeAccount('deceived');
    writeToken(await requestToken());
    // Empty means that no authority is trusted, not even those of the machine.
    writeFileSync(join(pod.folder, 'ca.crt'), '');
    const own = await openKubernetes({ pod });
    await expect(askWhoAmI(own)).rejects.toThrow(/certificate/);
    await own.close();
  });
});
