// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Asset, VideoPagination } from './common.ts';

export type Template = {
  id: string;
  title: string;
  description: string | null;
  kind: "image" | "video";
  model_name: string;
};

export type TemplateApply = {
  id?: string | undefined;
  title: string;
  description?: string | null | undefined;
  kind: "image" | "video";
  modelName: string;
  featured?: boolean | undefined;
};

export type TemplatesandassetsOperations = {
  /**
   * Featured templates; `q` searches title and description. `GET /api/templates`
   *
   * Needs a key with the scope `templates:read` or `services:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listTemplates(query?: { limit?: number | undefined; offset?: number | undefined; cursor?: string | undefined; q?: string | undefined }, options?: CallOptions): Promise<{
    data: Template[];
    pagination: VideoPagination;
  }>;

  /**
   * Create a template, or replace the one with this id. `POST /api/templates`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  applyTemplate(body: TemplateApply, options?: CallOptions): Promise<{
    data: Template;
  }>;

  /**
   * One featured template. `GET /api/templates/{templateId}`
   *
   * Needs a key with the scope `templates:read` or `services:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getTemplate(templateId: string, options?: CallOptions): Promise<{
    data: Template;
  }>;

  /**
   * Videos of the community and the caller's own by words of their prompts, newest first. `GET /api/assets/search`
   *
   * Needs a key with the scope `templates:read` or `services:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  searchAssets(query: { limit?: number | undefined; offset?: number | undefined; cursor?: string | undefined; q: string; type?: "all" | "image" | "video" | undefined; source?: "all" | "community" | "history" | undefined }, options?: CallOptions): Promise<{
    data: Asset[];
    pagination: VideoPagination;
  }>;
};
