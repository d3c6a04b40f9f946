// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Timestamp } from './common.ts';

export type Memory = {
  object: "memory";
  target: "agent" | "user" | "memory";
  content: string;
  entries: string[];
  usedChars: number;
  maxChars: number;
  /** of the content, in hexadecimal */
  checksumSha256: string;
  /** null as long as nothing was written */
  updatedAt: Timestamp | null;
};

export type MemoryPut = {
  content?: string | undefined;
  entries?: string[] | undefined;
  /** refuses the write when the content is another by now */
  expectedChecksumSha256?: string | undefined;
};

export type MemoryOperations = {
  /**
   * The notes that every session of an agent sees. `GET /v1/agents/{agentId}/memory`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getAgentMemory(agentId: string, options?: CallOptions): Promise<Memory>;

  /**
   * Replace the agent's notes; sessions that have begun keep what they saw. `PUT /v1/agents/{agentId}/memory`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  putAgentMemory(agentId: string, body: MemoryPut, options?: CallOptions): Promise<Memory>;

  /**
   * Empty the agent's notes. `DELETE /v1/agents/{agentId}/memory`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, rate_limited, server_error, storage_full.
   */
  deleteAgentMemory(agentId: string, options?: CallOptions): Promise<{
    object: "memory.deleted";
    target: "agent" | "user" | "memory";
    deleted: true;
  }>;

  /**
   * What the agent has noted about a subject. `GET /v1/agents/{agentId}/users/{subjectId}/memory`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getMemory(agentId: string, subjectId: string, query?: { target?: "user" | "memory" | undefined }, options?: CallOptions): Promise<Memory>;

  /**
   * Replace a document of a subject; sessions that have begun keep what they saw. `PUT /v1/agents/{agentId}/users/{subjectId}/memory`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  putMemory(agentId: string, subjectId: string, body: MemoryPut, query?: { target?: "user" | "memory" | undefined }, options?: CallOptions): Promise<Memory>;

  /**
   * Empty a document of a subject. `DELETE /v1/agents/{agentId}/users/{subjectId}/memory`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  deleteMemory(agentId: string, subjectId: string, query?: { target?: "user" | "memory" | undefined }, options?: CallOptions): Promise<{
    object: "memory.deleted";
    target: "agent" | "user" | "memory";
    deleted: true;
  }>;
};
