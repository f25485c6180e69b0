-- The days for which another product's daily sums were imported (decision D-244). A row appears together with the end of its import, and is gone
-- before anything of it is deleted: whoever reads sums asks here first.
CREATE TABLE imported_days
(
    site_id   text NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    import_id uuid NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    -- What the sums are grouped by; `total` are those of the whole site.
    list      text NOT NULL,
    -- The numbers that its rows have.
    metrics   text[] NOT NULL,
    days      datemultirange NOT NULL,
    -- Of its rows in ClickHouse: 64 bits, in decimal.
    version   text NOT NULL,
    PRIMARY KEY (import_id, list)
);
CREATE INDEX imported_days_of_site ON imported_days (site_id);

-- Part of what readers know about a site, like rolled-up days.
CREATE FUNCTION announce_imported_days() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || COALESCE(NEW.site_id, OLD.site_id) || ' rollups');
    RETURN NULL;
END
$$;

CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE ON imported_days
    FOR EACH ROW EXECUTE FUNCTION announce_imported_days();
