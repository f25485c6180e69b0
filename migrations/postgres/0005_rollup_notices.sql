-- Most changes of a site are rollups of its days. They change neither its domain nor its account, so they say that they are about rollups:
-- processes then keep the lists of sites and the unknown domains that they have in memory.
CREATE OR REPLACE FUNCTION announce_coverage() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || NEW.site_id || ' rollups');
    RETURN NULL;
END
$$;
