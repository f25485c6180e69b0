-- Every change to an account, a site or a key raises one counter in its own transaction and says whom it concerns.
-- Processes listen for the notice and, as the safety net, poll the counter: a missed notice is found within half a second.
-- The row lock makes the counter follow the order of commits, which a sequence would not.
CREATE TABLE control_version
(
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  bigint NOT NULL
);

INSERT INTO control_version (version) VALUES (0);

CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || COALESCE(NEW.id, OLD.id));
    RETURN NULL;
END
$$;

CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE OF plan ON accounts
    FOR EACH ROW EXECUTE FUNCTION announce_change();

CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE ON sites
    FOR EACH ROW EXECUTE FUNCTION announce_change();

-- Not for last_used_at, which is written in passing and changes no answer.
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE OF disabled, expires_at, hash, secret_version ON api_keys
    FOR EACH ROW EXECUTE FUNCTION announce_change();
