-- Videos and website logins in the usage ledger, in the commit that ends them.
-- The functions name a table that 0033 makes: nothing ends before it is there.

CREATE FUNCTION count_generation() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
  IF NEW.state IS DISTINCT FROM OLD.state AND NEW.state IN ('completed', 'failed') THEN
    INSERT INTO usage_records (organization_id, occurred_at, source, kind, name, calls, failures, credits,
      started_at, latency_ms, error)
    VALUES (NEW.organization_id, now(), 'video', 'video', NEW.model_name, 1, (NEW.state = 'failed')::int,
      CASE WHEN NEW.state = 'completed' THEN NEW.credits ELSE 0 END,
      NEW.created_at, least(2147483647, greatest(0, extract(epoch FROM now() - NEW.created_at) * 1000))::int, NULL);
  END IF;
  RETURN NULL;
END $function$;
CREATE TRIGGER generation_counted AFTER UPDATE OF state ON generations FOR EACH ROW EXECUTE FUNCTION count_generation();

CREATE FUNCTION count_login() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
  IF NEW.state IS DISTINCT FROM OLD.state AND NEW.state IN ('succeeded', 'failed') THEN
    INSERT INTO usage_records (organization_id, occurred_at, source, kind, name, calls, failures, started_at, latency_ms,
      error)
    VALUES (NEW.organization_id, now(), 'login', 'login', NEW.operation, 1, (NEW.state = 'failed')::int, NEW.started_at,
      least(2147483647, greatest(0, extract(epoch FROM now() - NEW.started_at) * 1000))::int, NEW.error->>'error');
  END IF;
  RETURN NULL;
END $function$;
CREATE TRIGGER login_counted AFTER UPDATE OF state ON logins FOR EACH ROW EXECUTE FUNCTION count_login();
