-- A process that erases an old copy looks at its list, and must begin to delete within a minute (src/erasure/rows.ts). So a site may come back
-- to a shard two minutes after its old copy was erased: until then, a process that had stood still may delete rows there (decision D-206).
CREATE OR REPLACE FUNCTION begin_site_move(site text, target smallint) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
    source smallint;
BEGIN
    SELECT shard INTO source FROM sites WHERE id = site FOR NO KEY UPDATE;
    IF source IS NULL THEN
        RETURN 'no site';
    ELSIF source = target THEN
        RETURN 'already there';
    ELSIF EXISTS (SELECT FROM site_moves WHERE site_id = site AND moved_at IS NULL AND to_shard <> target) THEN
        RETURN 'moves elsewhere';
    ELSIF EXISTS (SELECT FROM deleted_sites WHERE id = site AND shard = target
            AND (erased_at IS NULL OR erased_at > now() - interval '2 minutes')) THEN
        RETURN 'old copy';
    END IF;
    -- What is left of an earlier copy is masked, and must not be mistaken for the new one.
    DELETE FROM deleted_sites WHERE id = site AND shard = target;
    INSERT INTO site_moves (site_id, from_shard, to_shard) VALUES (site, source, target)
    ON CONFLICT (site_id) DO UPDATE
    SET from_shard = source, to_shard = target, hold = NULL, moved_at = NULL, changed_at = now();
    RETURN NULL;
END
$$;
