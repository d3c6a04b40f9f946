-- How many passkeys the sealed secrets of a stored login hold, and whether logins may have new ones created.
ALTER TABLE login_credentials
  ADD COLUMN passkeys integer NOT NULL DEFAULT 0,
  ADD COLUMN enrol_passkey boolean NOT NULL DEFAULT false;
