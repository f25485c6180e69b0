-- Erasing what ClickHouse holds of a deleted site is a job that is recorded with the deletion itself, so that no outage loses it
-- (decision D-145). Every column may be null: backups of before have none of them.
ALTER TABLE deleted_sites
    ADD COLUMN domain        text,
    -- Since when something of it may be stored; null: since it was deleted.
    ADD COLUMN waiting_since timestamptz,
    -- When events of it last arrived after it was deleted: a job that was begun before that is not done.
    ADD COLUMN reopened_at   timestamptz,
    -- No statement finds a row of it any more.
    ADD COLUMN erased_at     timestamptz,
    -- The parts that had rows of it are written anew without them, by the clock of ClickHouse.
    ADD COLUMN rewritten_at  timestamptz,
    -- The files of the old parts are gone too.
    ADD COLUMN purged_at     timestamptz;

CREATE OR REPLACE FUNCTION remember_deleted_site() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    DELETE FROM deleted_sites WHERE id = OLD.id;
    INSERT INTO deleted_sites (id, domain) VALUES (OLD.id, OLD.domain);
    RETURN NULL;
END
$$;
