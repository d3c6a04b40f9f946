-- Deliveries about something other than a session carry their own content. Credentials may be renewed ahead of their session's end.
ALTER TABLE webhook_deliveries ADD COLUMN data jsonb;
ALTER TABLE login_credentials ADD COLUMN auto_refresh boolean NOT NULL DEFAULT false;
ALTER TABLE login_credentials ADD COLUMN refresh_at timestamptz;
CREATE INDEX login_credentials_due ON login_credentials (refresh_at) WHERE refresh_at IS NOT NULL;

CREATE FUNCTION notify_webhooks(organization text, name text, content jsonb) RETURNS void LANGUAGE sql AS $function$
  INSERT INTO webhook_deliveries (id, webhook_id, organization_id, type, data)
  SELECT 'msg_' || replace(gen_random_uuid()::text, '-', ''), w.id, organization, name, content
  FROM webhooks w WHERE w.organization_id = organization AND w.enabled AND (name = ANY(w.events) OR w.events = '{*}')
$function$;

CREATE FUNCTION notify_login_change() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
  IF NEW.state <> OLD.state AND NEW.state <> 'running' THEN
    PERFORM notify_webhooks(NEW.organization_id, 'login.' || NEW.state, jsonb_build_object('loginId', NEW.id,
      'operation', NEW.operation, 'state', NEW.state, 'kind', NEW.action->>'kind', 'error', NEW.error->>'error',
      'credentialId', NEW.credential_id));
  END IF;
  RETURN NULL;
END $function$;
CREATE TRIGGER login_changed AFTER UPDATE OF state ON logins FOR EACH ROW EXECUTE FUNCTION notify_login_change();

CREATE FUNCTION notify_credential_change() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
  IF NEW.health <> OLD.health AND (NEW.health = 'needs_attention' OR OLD.health = 'needs_attention' AND NEW.health = 'healthy')
  THEN
    PERFORM notify_webhooks(NEW.organization_id, 'credential.' || NEW.health,
      jsonb_build_object('credentialId', NEW.id, 'health', NEW.health, 'code', NEW.health_code));
  END IF;
  RETURN NULL;
END $function$;
CREATE TRIGGER login_credential_changed AFTER UPDATE OF health ON login_credentials
  FOR EACH ROW EXECUTE FUNCTION notify_credential_change();
