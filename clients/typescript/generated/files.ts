// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { SubjectId, Timestamp } from './common.ts';

export type DirectoryCreate = {
  path: string;
  createParents?: boolean | undefined;
};

export type FileContent = {
  object: "file_content";
  path: string;
  name: string;
  sizeBytes: number;
  mimeType: string | null;
  checksumSha256: string | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  type: "file";
  encoding: "utf-8" | "base64";
  content: string;
};

export type FileDeleted = {
  object: "file.deleted";
  path: string;
  deleted: true;
};

export type FileMatch = {
  object: "file_match";
  path: string;
  name: string;
  match: Array<"name" | "content">;
  excerpt: string;
};

export type FileTransfer = {
  from: string;
  to: string;
  overwrite?: boolean | undefined;
};

export type FileUpload = {
  file: string;
  path?: string | undefined;
  overwrite?: "true" | "false" | undefined;
  createParents?: "true" | "false" | undefined;
  mimeType?: string | undefined;
};

export type FileWrite = {
  path: string;
  encoding?: "utf-8" | "base64" | undefined;
  content: string;
  overwrite?: boolean | undefined;
  createParents?: boolean | undefined;
  mimeType?: string | undefined;
};

export type Volume = {
  object: "sandbox.volume";
  agentId: string;
  subjectId: SubjectId;
  status: "none" | "warming" | "ready" | "unavailable";
  sizeBytes: number;
  usedBytes: number;
  availableBytes: number;
  maxSizeBytes: number;
  createdAt: Timestamp | null;
  updatedAt: Timestamp | null;
};

export type WorkspaceFile = {
  object: "file";
  path: string;
  name: string;
  type: "file" | "directory";
  sizeBytes: number;
  mimeType: string | null;
  checksumSha256: string | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type FilesOperations = {
  /**
   * The entries of a folder: folders first, then by name, hidden ones too. `GET /v1/agents/{agentId}/users/{subjectId}/files`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listFiles(agentId: string, subjectId: string, query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined; path?: string | undefined; recursive?: boolean | undefined }, options?: CallOptions): Promise<{
    object: "list";
    path: string;
    data: WorkspaceFile[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
      /** absent where the page was asked for by cursor */
      offset?: number | undefined;
      /** absent where the page was asked for by cursor */
      total?: number | undefined;
    };
  }>;

  /**
   * Delete a file, or a folder; a full folder only with `recursive`. `DELETE /v1/agents/{agentId}/users/{subjectId}/files`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, rate_limited, server_error, storage_full.
   */
  deleteFile(agentId: string, subjectId: string, query: { path: string; recursive?: boolean | undefined }, options?: CallOptions): Promise<FileDeleted>;

  /**
   * One file or folder. `GET /v1/agents/{agentId}/users/{subjectId}/files/stat`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  statFile(agentId: string, subjectId: string, query: { path: string }, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * The content of a file, as JSON or, with `Accept: application/octet-stream`, its bytes. `GET /v1/agents/{agentId}/users/{subjectId}/files/content`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, range_not_satisfiable, rate_limited, server_error, storage_full.
   */
  readFile(agentId: string, subjectId: string, query: { path: string }, options?: CallOptions): Promise<FileContent>;

  /**
   * The content of a file, as JSON or, with `Accept: application/octet-stream`, its bytes. `GET /v1/agents/{agentId}/users/{subjectId}/files/content`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, range_not_satisfiable, rate_limited, server_error, storage_full.
   */
  readFileBytes(agentId: string, subjectId: string, query: { path: string }, options?: CallOptions): Promise<Response>;

  /**
   * Write a file, at most 40 MiB: as JSON, as raw bytes or as a form with the part `file`. `PUT /v1/agents/{agentId}/users/{subjectId}/files/content`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  writeFile(agentId: string, subjectId: string, body: FileWrite, query?: { path?: string | undefined; overwrite?: boolean | undefined; createParents?: boolean | undefined; mimeType?: string | undefined }, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * Write a file, at most 40 MiB: as JSON, as raw bytes or as a form with the part `file`. `PUT /v1/agents/{agentId}/users/{subjectId}/files/content`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  writeFileBytes(agentId: string, subjectId: string, body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>, query?: { path?: string | undefined; overwrite?: boolean | undefined; createParents?: boolean | undefined; mimeType?: string | undefined }, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * Write a file, at most 40 MiB: as JSON, as raw bytes or as a form with the part `file`. `PUT /v1/agents/{agentId}/users/{subjectId}/files/content`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  writeFileForm(agentId: string, subjectId: string, body: FormData, query?: { path?: string | undefined; overwrite?: boolean | undefined; createParents?: boolean | undefined; mimeType?: string | undefined }, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * The same as `PUT`, for forms. `POST /v1/agents/{agentId}/users/{subjectId}/files/content`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  uploadFile(agentId: string, subjectId: string, body: FileWrite, query?: { path?: string | undefined; overwrite?: boolean | undefined; createParents?: boolean | undefined; mimeType?: string | undefined }, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * The same as `PUT`, for forms. `POST /v1/agents/{agentId}/users/{subjectId}/files/content`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  uploadFileBytes(agentId: string, subjectId: string, body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>, query?: { path?: string | undefined; overwrite?: boolean | undefined; createParents?: boolean | undefined; mimeType?: string | undefined }, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * The same as `PUT`, for forms. `POST /v1/agents/{agentId}/users/{subjectId}/files/content`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  uploadFileForm(agentId: string, subjectId: string, body: FormData, query?: { path?: string | undefined; overwrite?: boolean | undefined; createParents?: boolean | undefined; mimeType?: string | undefined }, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * Make a folder; one that exists is answered as it is. `POST /v1/agents/{agentId}/users/{subjectId}/files/mkdir`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  makeDirectory(agentId: string, subjectId: string, body: DirectoryCreate, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * Move a file or a folder; missing parents of the destination are made. `POST /v1/agents/{agentId}/users/{subjectId}/files/move`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  moveFile(agentId: string, subjectId: string, body: FileTransfer, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * Copy a file, or a folder with all below. `POST /v1/agents/{agentId}/users/{subjectId}/files/copy`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, payload_too_large, rate_limited, server_error, storage_full.
   */
  copyFile(agentId: string, subjectId: string, body: FileTransfer, options?: CallOptions): Promise<WorkspaceFile>;

  /**
   * Entries whose name or text holds the query, taken literally. `GET /v1/agents/{agentId}/users/{subjectId}/files/search`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  searchFiles(agentId: string, subjectId: string, query: { query: string; path?: string | undefined; maxResults?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    query: string;
    data: FileMatch[];
  }>;

  /**
   * The volume that holds the files of a subject. `GET /v1/agents/{agentId}/users/{subjectId}/volume`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getVolume(agentId: string, subjectId: string, options?: CallOptions): Promise<Volume>;
};
