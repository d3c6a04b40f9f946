// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { VideoPagination } from './common.ts';

export type Character = {
  id: string;
  name: string;
  description: string | null;
  created_at: number;
  image_keys: string[];
};

export type CharacterCreate = {
  name: string;
  description?: string | undefined;
  images: string[];
};

export type Upload = {
  upload_url: string;
  s3_key: string;
  headers: Record<string, string>;
  expires_at: string;
  max_bytes: number;
};

export type UploadCreate = {
  filename: string;
  contentType: string;
  sizeBytes: number;
};

export type ReferencesOperations = {
  /**
   * Get a URL to upload an image, a video or sound as a reference; valid for 15 minutes. `POST /api/uploads`
   *
   * Needs a key with the scope `templates:read`. Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  createUpload(body: UploadCreate, options?: CallOptions): Promise<{
    data: Upload;
  }>;

  /**
   * Store images of a character, by URL or as files; private to the organization. `POST /api/characters`
   *
   * Needs a key with the scope `templates:read`. Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  createCharacter(body: CharacterCreate, options?: CallOptions): Promise<{
    data: Character;
  }>;

  /**
   * Store images of a character, by URL or as files; private to the organization. `POST /api/characters`
   *
   * Needs a key with the scope `templates:read`. Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  createCharacterForm(body: FormData, options?: CallOptions): Promise<{
    data: Character;
  }>;

  /**
   * Own characters, newest first. `GET /api/characters`
   *
   * Needs a key with the scope `templates:read` or `services:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listCharacters(query?: { limit?: number | undefined; offset?: number | undefined; cursor?: string | undefined }, options?: CallOptions): Promise<{
    data: Character[];
    pagination: VideoPagination;
  }>;
};
