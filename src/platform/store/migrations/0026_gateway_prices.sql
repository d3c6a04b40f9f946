-- The price at which a call was counted, US dollars per million tokens; null: the model had none.
ALTER TABLE gateway_requests ADD COLUMN price jsonb;
