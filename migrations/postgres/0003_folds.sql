-- Which days and months of a site are read from the folded table, and under which version of their rows (decisions D-73 and
-- D-74). A day is in the `days` of at most one version. Rows of a (version, day) are written once: `written` holds every day
-- that rows may exist of, `pending` what a fold under way will make readable unless an event arrives late meanwhile.
CREATE TABLE site_folds
(
    site_id        text NOT NULL REFERENCES sites ON DELETE CASCADE,
    version        integer NOT NULL,
    days           datemultirange NOT NULL DEFAULT '{}',
    months         datemultirange NOT NULL DEFAULT '{}',
    pending_days   datemultirange NOT NULL DEFAULT '{}',
    pending_months datemultirange NOT NULL DEFAULT '{}',
    written_days   datemultirange NOT NULL DEFAULT '{}',
    written_months datemultirange NOT NULL DEFAULT '{}',
    changed_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (site_id, version)
);

-- How far a site was looked at, so that one that stays unfolded is not looked at again in every round.
CREATE TABLE site_folding
(
    site_id            text PRIMARY KEY REFERENCES sites ON DELETE CASCADE,
    considered_through date,
    considered_at      timestamptz
);

-- [["2026-01-01", "2026-01-31"], …], both ends inclusive.
CREATE FUNCTION day_ranges(ranges datemultirange) RETURNS jsonb LANGUAGE sql IMMUTABLE AS
$$
    SELECT coalesce(jsonb_agg(jsonb_build_array(lower(range)::text, (upper(range) - 1)::text) ORDER BY range), '[]')
    FROM unnest(ranges) AS range
$$;

CREATE FUNCTION note_fold_change() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    NEW.changed_at := now();
    RETURN NEW;
END
$$;

CREATE TRIGGER note_change BEFORE UPDATE ON site_folds
    FOR EACH ROW WHEN (OLD.days <> NEW.days OR OLD.months <> NEW.months)
    EXECUTE FUNCTION note_fold_change();

-- What is readable travels with the site, so a change to it is a change of the site (0002_changes.sql).
CREATE FUNCTION announce_fold() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || NEW.site_id);
    RETURN NULL;
END
$$;

CREATE TRIGGER announce AFTER UPDATE ON site_folds
    FOR EACH ROW WHEN (OLD.days <> NEW.days OR OLD.months <> NEW.months)
    EXECUTE FUNCTION announce_fold();
