// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { SubjectId } from './common.ts';

export type SubjectsOperations = {
  /**
   * Delete a subject: sessions, memory, approvals, automations and files. `DELETE /v1/agents/{agentId}/users/{subjectId}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, rate_limited, server_error, service_delete_failed, storage_full.
   */
  deleteSubject(agentId: string, subjectId: string, options?: CallOptions): Promise<{
    object: "subject.deleted";
    agentId: string;
    subjectId: SubjectId;
    deleted: true;
    /** sessions deleted by this request */
    sessions: number;
  }>;

  /**
   * All that is kept about a subject, as a tar archive. `GET /v1/agents/{agentId}/users/{subjectId}/export`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, rate_limited, server_error, storage_full.
   */
  exportSubject(agentId: string, subjectId: string, options?: CallOptions): Promise<Response>;
};
