-- Emails and text messages that were posted to an inbound mailbox, until a login reads them or 15 minutes have passed.
-- sealed, data_key, master_key_id: the parsed message, as in vault_credentials.
CREATE TABLE login_messages (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  mailbox_id text NOT NULL,
  sealed text NOT NULL,
  data_key text NOT NULL,
  master_key_id text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX login_messages_by_mailbox ON login_messages (mailbox_id, received_at);
CREATE INDEX login_messages_by_age ON login_messages (received_at);
