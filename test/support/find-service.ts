import { inject } from 'vitest';

const PACKAGES = {
  postgres: 'the Debian package postgresql',
  nats: 'the Debian package nats-server',
  redis: 'the Debian package redis-server',
  s3: 'versitygw',
  kubernetes: 'a control plane of Kubernetes (etcd, kube-apiserver)',
  nothing: 'a program that does not exist',
};

/**
 * The URL of a real server of this run, started on the first call. Undefined, with the reason printed, when its program
 * is not installed; with `CAPSTAN_REQUIRE_ALL=1` that throws instead, so that nothing is skipped unseen.
 */
export async function findService(name: keyof typeof PACKAGES): Promise<string | undefined> {
  const response = await fetch(`${inject('servicesUrl')}/${name}`);
  const text = await response.text();
  if (response.status === 200) return text;
  if (response.status !== 204) throw new Error(text);
  const script = name === 'kubernetes' ? 'cluster/install-control-plane.sh' : 'install-test-services.sh';
  const reason = `${PACKAGES[name]} is not installed: scripts/${script} installs it`;
  if (process.env.CAPSTAN_REQUIRE_ALL === '1') throw new Error(reason);
  process.stderr.write(`Skipped what needs ${name}: ${reason}.\n`);
  return undefined;
}
