-- An import that nobody finished gives up its salt (decision D-120): then it has neither a salt nor an end.
ALTER TABLE imports DROP CONSTRAINT imports_check;
ALTER TABLE imports ADD CONSTRAINT imports_salt_until_end CHECK (salt IS NULL OR finished_at IS NULL);

-- Which sites there were: events of one may still be on their way when it is deleted, and have to go when they arrive (decision D-96).
CREATE TABLE deleted_sites
(
    id         text PRIMARY KEY,
    deleted_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION remember_deleted_site() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    INSERT INTO deleted_sites (id) VALUES (OLD.id) ON CONFLICT (id) DO UPDATE SET deleted_at = now();
    RETURN NULL;
END
$$;

CREATE TRIGGER remember_deleted AFTER DELETE ON sites
    FOR EACH ROW EXECUTE FUNCTION remember_deleted_site();
