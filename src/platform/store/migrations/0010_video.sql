CREATE EXTENSION IF NOT EXISTS pg_trgm;
-- Puts plain columns into the same index as trigrams.
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Credits of an organization: what it may spend, and what is set aside for generations under way. Both are the sums of
-- its entries. `queue_tag` is the place of its last generation in the fair order.
CREATE TABLE credit_accounts (
  organization_id text PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  balance bigint NOT NULL CHECK (balance >= 0),
  reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  queue_tag bigint NOT NULL DEFAULT 0,
  webhook_secret jsonb
);

-- Only ever added to.
CREATE TABLE credit_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('grant', 'reserve', 'settle', 'refund')),
  generation_id text CHECK ((generation_id IS NULL) = (kind = 'grant')),
  balance_change bigint NOT NULL,
  reserved_change bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX credit_entries_by_organization ON credit_entries (organization_id, id);
CREATE UNIQUE INDEX credit_entries_reserved_once ON credit_entries (generation_id) WHERE kind = 'reserve';
CREATE UNIQUE INDEX credit_entries_ended_once ON credit_entries (generation_id) WHERE kind IN ('settle', 'refund');

-- The place of the generation that was begun last. An organization that comes back takes its place from here on, so
-- that it neither waits for what others have used meanwhile nor is ahead of them for its silence.
CREATE TABLE video_clock (one boolean PRIMARY KEY DEFAULT true CHECK (one), tag bigint NOT NULL DEFAULT 0);
INSERT INTO video_clock DEFAULT VALUES;

CREATE TABLE generations (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  job_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'generating', 'completed', 'failed')),
  model_name text NOT NULL,
  variant text NOT NULL,
  prompt text NOT NULL,
  template_id text,
  -- aspect ratio, seconds, size, audio, format, seed and the keys of references
  request jsonb NOT NULL,
  credits bigint NOT NULL,
  deadline_seconds integer NOT NULL,
  webhook_url text,
  queue_tag bigint NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  handle text,
  progress real NOT NULL DEFAULT 0,
  error text,
  asset_id text,
  video_key text,
  thumbnail_key text,
  slug text UNIQUE,
  expired boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  completed_at timestamptz
);
CREATE INDEX generations_by_organization ON generations (organization_id, id DESC);
CREATE INDEX generations_queued ON generations (queue_tag) WHERE state = 'queued';
CREATE INDEX generations_open ON generations (created_at) WHERE state IN ('queued', 'generating');
CREATE INDEX generations_kept ON generations (completed_at) WHERE state = 'completed' AND NOT expired;

CREATE TABLE uploads (
  key text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  file_name text NOT NULL,
  content_type text NOT NULL,
  size_bytes bigint NOT NULL,
  -- once it has been used: what it is, and where the copy is that engines are given
  kind text CHECK (kind IN ('image', 'video', 'audio')),
  clean_key text,
  facts jsonb,
  used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX uploads_by_use ON uploads (coalesce(used_at, created_at));

CREATE TABLE characters (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  image_keys text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX characters_by_organization ON characters (organization_id, id DESC);

CREATE TABLE video_templates (
  id text PRIMARY KEY,
  title text NOT NULL,
  description text,
  kind text NOT NULL CHECK (kind IN ('image', 'video')),
  model_name text NOT NULL,
  featured boolean NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX video_templates_featured ON video_templates (position) WHERE featured;

-- What a search can find: `scope` is an organization for its own history, and empty for the community.
CREATE TABLE video_assets (
  id text PRIMARY KEY,
  scope text NOT NULL,
  generation_id text NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  asset_id text NOT NULL,
  asset_type text NOT NULL CHECK (asset_type IN ('image', 'video')),
  prompt text NOT NULL,
  model_name text NOT NULL,
  metadata jsonb NOT NULL,
  object_key text NOT NULL,
  at timestamptz NOT NULL
);
CREATE UNIQUE INDEX video_assets_once ON video_assets (generation_id, scope);
CREATE INDEX video_assets_newest ON video_assets (scope, at DESC, id DESC);
-- The space lets the first word have a beginning like any other.
CREATE INDEX video_assets_by_text ON video_assets USING gin (scope, lower(' ' || prompt) gin_trgm_ops);
