import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../../support/cluster/cluster.ts';
import { openConversation } from '../../support/cluster/node/conversation.ts';
import type { Installation } from '../../support/cluster/node/installation.ts';
import { findApiServer, probeFreely, probeFrom } from '../../support/cluster/node/probe.ts';
import type { Place } from '../../support/cluster/node/probe.ts';
import { SITE, SITE_PORTS } from '../../support/cluster/node/site-address.ts';
import { startSiteInCluster } from '../../support/cluster/node/site.ts';
import { PASSWORD, USER } from '../../support/login-sites/server.ts';

const SLOW_MS = 300_000;

type Answer = { status: number; body: Record<string, unknown> };

/** Roles that need additional programs: videos need ffmpeg, website logins Chromium. */
export function testMedia(find: () => Installation): void {
  const call = async (role: 'video' | 'login', path: string, body?: object): Promise<Answer> => {
    const url = await find().findUrl(role);
    // A pod that has just become ready may still be unknown to some rules of the node.
    const answer = await waitFor(
      `${role} answers`,
      () =>
        fetch(url + path, {
          headers: { 'x-api-key': find().key, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        }).catch(() => undefined),
      SLOW_MS,
    );
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  test('a video is rendered, and downloaded by its signed address alone', async () => {
    const wish = {
      prompt: 'A lighthouse at night',
      modelName: 'local/storyboard-1',
      aspectRatio: '16:9',
      duration: '5s',
    };
    const { status, body } = await call('video', '/api/generations', wish);
    expect(status).toBe(202);
    const { generations } = body['data'] as { generations: [{ id: string }] };
    const [{ id }] = generations;
    const made = await waitFor(
      'the video',
      async () => {
        const found = (await call('video', `/api/generations/${id}`)).body;
        return found['status'] === 'generating' ? undefined : found;
      },
      SLOW_MS,
    );
    expect(made).toMatchObject({ status: 'completed', width: 1280, height: 720 });
    const address = String(made['video_url']);
    expect(address).toContain(`${await find().findUrl('video')}/objects/`);
    const file = await fetch(address);
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    expect(bytes.includes('moov') && bytes.includes('avc1')).toBe(true);
    expect((await fetch(address.replace(/signature=.{4}/, 'signature=abcd'))).status).toBe(403);
    expect(await (await fetch(String(made['share_url']))).text()).toContain('<video');
  });

  describe('the website login', () => {
    testLogin(find, call);
  });
}

function testLogin(
  find: () => Installation,
  call: (role: 'login', path: string, body: object) => Promise<Answer>,
): void {
  let site: { url: string; outside: string };
  beforeAll(async () => {
    site = await startSiteInCluster(find());
  });
  afterAll(async () => {
    const { kubectl, namespace } = find();
    await kubectl('-n', namespace, 'delete', `pod/${SITE}`, `service/${SITE}`, `configmap/${SITE}`);
  });
  const signIn = (url: string, password: string) =>
    call('login', '/api/login', {
      domain: url,
      loginMethod: 'password',
      cred: { username: USER, password },
      useCache: false,
      timeoutSeconds: 180,
    });

  test('a login to a website inside is proven, and what it brings is let in; a wrong password is refused', async () => {
    const { status, body } = await signIn(`${site.url}/classic/login`, PASSWORD);
    expect({ status, error: body['error'] }).toEqual({ status: 200, error: undefined });
    const cookie = (body['cookies'] as { name: string; value: string }[])
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const page = `${site.outside}/classic/account`;
    expect(await (await fetch(page, { headers: { cookie } })).text()).toContain('Protected');
    expect((await fetch(page, { redirect: 'manual' })).status).toBe(303);
    const wrong = await signIn(`${site.url}/classic/login`, 'wrong');
    expect([wrong.status, wrong.body['error']]).toEqual([422, 'invalid_credentials']);
  });

  test('its browser is led to no other place inside', async () => {
    const { namespace } = find();
    for (const host of [`capstan-api.${namespace}.svc.cluster.local`, 'kubernetes.default.svc.cluster.local']) {
      const { status, body } = await signIn(`http://${host}/login`, PASSWORD);
      expect([host, status, body['error']]).toEqual([host, 400, 'unsafe_domain']);
    }
  });

  test('its pod reaches the site and the backends by their ports, and nothing else inside', async () => {
    const { kubectl, namespace } = find();
    const name = (service: string) => `${service}.${namespace}.svc.cluster.local`;
    const ip = await kubectl('-n', namespace, 'get', 'pod', SITE, '-o', 'jsonpath={.status.podIP}');
    const allowed: Place[] = [
      [name(SITE), '80'],
      [name('capstan-postgresql'), '5432'],
      [name('capstan-nats'), '4222'],
      [name('capstan-redis'), '6379'],
      [name('capstan-s3'), '7070'],
    ];
    expect(await probeFrom(find(), 'login', allowed)).toEqual(allowed.map(() => 'open'));
    const ivy = await openConversation(find(), { subjectId: 'ivy' });
    await ivy.run('true');
    const sandbox = await kubectl('get', 'pod', ivy.name, '-o', 'jsonpath={.status.podIP}');
    const inside: Place[] = [
      [ip, String(SITE_PORTS.other)],
      [name('capstan-api'), '80'],
      [sandbox, '8090'],
    ];
    expect(await probeFreely(find(), inside.slice(0, 2))).toEqual(['open', 'open']);
    expect(await probeFrom(find(), 'worker', inside)).toEqual(['shut', 'shut', 'open']);
    const [service, endpoint, kubelet] = (await findApiServer(find())) as [Place, Place, Place];
    expect(await probeFrom(find(), 'operator', [service, endpoint])).toEqual(['open', 'open']);
    const denied: Place[] = [...inside, service, endpoint, kubelet, ['169.254.169.254', '80']];
    expect(await probeFrom(find(), 'login', denied)).toEqual(denied.map(() => 'shut'));
  });
}
