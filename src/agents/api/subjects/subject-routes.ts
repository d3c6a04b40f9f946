import type { FastifyInstance } from 'fastify';
import { registerRoute } from '../../../platform/http/route.ts';
import { subjectRoutes } from '../../contract/routes/subjects.ts';
import { getVolumeKey, readVolume } from '../files/volume.ts';
import type { ApiDeps } from '../deps.ts';
import { exportSubject } from './export.ts';
import { removeSubject } from './remove.ts';

/** What belongs to one subject of an agent, as a whole. */
export function registerSubjectRoutes(app: FastifyInstance, deps: ApiDeps): void {
  registerRoute(app, deps, subjectRoutes.deleteSubject, async ({ params, caller }) => {
    const sessions = await removeSubject(deps, { organizationId: caller.organizationId, ...params });
    deps.subjectActivity.forget();
    return { status: 200, body: { object: 'subject.deleted', ...params, deleted: true, sessions } };
  });

  registerRoute(app, deps, subjectRoutes.exportSubject, async ({ params, caller }) => {
    const subject = await getVolumeKey(deps, caller, params);
    const files = await readVolume(deps, { caller, params }, 'list', async (opened) => opened);
    const headers = {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="subject.tar"',
      'x-content-type-options': 'nosniff',
    };
    return { status: 200, body: exportSubject(deps, subject, files), headers };
  });
}
