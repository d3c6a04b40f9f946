// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Asset, Timestamp, VideoPagination } from './common.ts';

export type Generation = {
  id: string;
  status: "generating" | "completed" | "failed";
  template_id: string | null;
  created_at: Timestamp | null;
  video_url?: string | null | undefined;
  share_url?: string | null | undefined;
  thumbnail_url?: string | null | undefined;
  completed_at?: Timestamp | undefined;
  error?: string | undefined;
  expired?: true | undefined;
  phase: "queued" | "rendering" | "completed" | "failed";
  queue_position?: number | undefined;
  progress: number;
  asset_id: string | null;
  asset_s3_key: string | null;
  model_name: string;
  prompt: string;
  aspect_ratio: string;
  duration: string;
  resolution: string;
  width: number;
  height: number;
  has_audio: boolean;
  format: "mp4" | "webm";
  seed: number;
  credits_charged: number;
};

export type GenerationCreate = {
  prompt: string;
  modelName: string;
  aspectRatio?: string | undefined;
  duration?: string | undefined;
  resolution?: string | undefined;
  count?: number | undefined;
  hasAudio?: boolean | undefined;
  startFrameKey?: string | undefined;
  endFrameKey?: string | undefined;
  ingredientImageKeys?: string[] | undefined;
  characterReferenceImageKeys?: string[] | undefined;
  sourceVideoKey?: string | undefined;
  referenceVideoKeys?: string[] | undefined;
  audioKey?: string | undefined;
  templateId?: string | undefined;
  format?: string | undefined;
  seed?: number | undefined;
  webhookUrl?: string | undefined;
};

export type GenerationSubmitted = {
  data: {
    generations: Array<{
      id: string;
      asset_id: string | null;
      request_id: string | null;
      status: string | null;
    }>;
    endpoint_id: string | null;
    variant: string | null;
    metadata: {
      model_name: string;
      selected_model_name: string;
      credits_charged: number;
      num_generations: number;
    };
  };
};

export type VideoModel = {
  id: string;
  object: "model";
  aspect_ratios: string[];
  durations: string[];
  resolutions: string[];
  audio: "never" | "optional" | "always";
  formats: Array<"mp4" | "webm">;
  inputs: {
    start_frame: boolean;
    end_frame: boolean;
    ingredient_images: number;
    character_images: number;
    source_video: boolean;
    reference_videos: number;
    audio: boolean;
  };
  credits_per_second: Record<string, number>;
};

export type GenerationsOperations = {
  /**
   * Queue one to four videos; credits are reserved in the same transaction. `POST /api/generations`
   *
   * Needs a key with the scope `templates:read`. Errors: validation_error, unsupported_model, unsupported_parameter, invalid_reference, unauthorized, insufficient_credits, forbidden, conflict, payload_too_large, rate_limited, server_error, storage_full, free_tier_paused.
   */
  createGenerations(body: GenerationCreate, options?: CallOptions): Promise<GenerationSubmitted>;

  /**
   * Own generations, newest first. `GET /api/generations`
   *
   * Needs a key with the scope `templates:read` or `services:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listGenerations(query?: { limit?: number | undefined; offset?: number | undefined; cursor?: string | undefined; status?: "generating" | "completed" | "failed" | undefined }, options?: CallOptions): Promise<{
    data: Generation[];
    pagination: VideoPagination;
  }>;

  /**
   * Progress of a generation, and its video once it is finished. `GET /api/generations/{generationId}`
   *
   * Needs a key with the scope `templates:read` or `services:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getGeneration(generationId: string, options?: CallOptions): Promise<Generation>;

  /**
   * Cancel a generation that has not ended; its credits are refunded. `DELETE /api/generations/{generationId}`
   *
   * Needs a key with the scope `templates:read`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, rate_limited, server_error, storage_full.
   */
  cancelGeneration(generationId: string, options?: CallOptions): Promise<Generation>;

  /**
   * Revoke the public page, permanently. `DELETE /api/generations/{generationId}/share`
   *
   * Needs a key with the scope `templates:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  unshareGeneration(generationId: string, options?: CallOptions): Promise<Generation>;

  /**
   * Share a finished video with the community; every organization can find it. `POST /api/generations/{generationId}/publish`
   *
   * Needs a key with the scope `templates:read`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, rate_limited, server_error, storage_full.
   */
  publishGeneration(generationId: string, options?: CallOptions): Promise<{
    data: Asset;
  }>;

  /**
   * Remove a video from the community. `DELETE /api/generations/{generationId}/publish`
   *
   * Needs a key with the scope `templates:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  withdrawGeneration(generationId: string, options?: CallOptions): Promise<Generation>;

  /**
   * Capabilities and price of each model. `GET /api/models`
   *
   * Needs a key with the scope `templates:read` or `services:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listVideoModels(query?: { limit?: number | undefined; offset?: number | undefined; cursor?: string | undefined }, options?: CallOptions): Promise<{
    data: VideoModel[];
    pagination: VideoPagination;
    object: "list";
  }>;
};
