-- Deliveries that were dropped because too many of the webhook were pending.
ALTER TABLE webhooks ADD COLUMN dropped_deliveries bigint NOT NULL DEFAULT 0;
