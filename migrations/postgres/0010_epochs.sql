-- PostgreSQL knows which rollup rows of ClickHouse are readable. If one of the two is restored from an older copy, it no longer does. So
-- every change is counted here and noted in ClickHouse; when the two disagree, a new epoch begins, in which all days with events are
-- read from the events until they are rolled up again (decision D-205).
CREATE TABLE ledger
(
    only_row     boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- A database that was created anew, also one that a backup is restored into, is another installation.
    installation uuid NOT NULL DEFAULT gen_random_uuid(),
    -- Versions of rollups begin with epoch * 1024 + 1, so none names rows of an earlier epoch.
    epoch        integer NOT NULL DEFAULT 0,
    began_at     timestamptz NOT NULL DEFAULT now()
);
INSERT INTO ledger DEFAULT VALUES;

-- The number of changes that concern rows of the shard, and how many of them ClickHouse is known to have noted.
ALTER TABLE shards ADD COLUMN mark bigint NOT NULL DEFAULT 0;
ALTER TABLE shards ADD COLUMN confirmed_mark bigint NOT NULL DEFAULT 0;
-- The last epoch before which there are no rows of rollups any more, except those of days whose events are gone.
ALTER TABLE shards ADD COLUMN swept_epoch integer NOT NULL DEFAULT 0;

-- A database that was restored counts on from an older mark, and must not catch up with ClickHouse before anybody has compared the two. So
-- the mark that it came with is kept until then: in which start of which database it was counted on, and in which it was compared.
ALTER TABLE shards ADD COLUMN first_mark bigint NOT NULL DEFAULT 0;
ALTER TABLE shards ADD COLUMN counted_in text NOT NULL DEFAULT '';
ALTER TABLE shards ADD COLUMN compared_in text NOT NULL DEFAULT '';

CREATE FUNCTION this_start() RETURNS text LANGUAGE sql STABLE AS
$$
    SELECT oid || ' ' || 'shards'::regclass::oid || ' ' || extract(epoch FROM pg_postmaster_start_time())
    FROM pg_database WHERE datname = current_database()
$$;

-- Once per transaction: one that begins 500 runs would otherwise change the same row 500 times.
CREATE FUNCTION count_change(on_shards smallint[]) RETURNS void LANGUAGE plpgsql AS
$$
BEGIN
    UPDATE shards
    SET mark = mark + 1, first_mark = CASE counted_in WHEN this_start() THEN first_mark ELSE mark END, counted_in = this_start()
    WHERE number = ANY (on_shards) AND xmin <> pg_current_xact_id()::xid;
END
$$;

CREATE FUNCTION count_coverage_change() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM count_change(ARRAY(SELECT DISTINCT shard FROM sites JOIN changed ON id = site_id));
    RETURN NULL;
END
$$;
CREATE TRIGGER count_insert AFTER INSERT ON rollup_coverage REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_coverage_change();
CREATE TRIGGER count_update AFTER UPDATE ON rollup_coverage REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_coverage_change();

CREATE FUNCTION count_site_change() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM count_change(CASE TG_OP WHEN 'DELETE' THEN ARRAY[OLD.shard] ELSE ARRAY[OLD.shard, NEW.shard] END);
    RETURN NULL;
END
$$;
CREATE TRIGGER count_move AFTER UPDATE OF shard ON sites
    FOR EACH ROW WHEN (old.shard <> new.shard) EXECUTE FUNCTION count_site_change();
CREATE TRIGGER count_delete AFTER DELETE ON sites
    FOR EACH ROW EXECUTE FUNCTION count_site_change();

CREATE FUNCTION count_retention_change() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM count_change(ARRAY(SELECT number FROM shards ORDER BY number));
    RETURN NULL;
END
$$;
CREATE TRIGGER count_change AFTER UPDATE ON retention
    FOR EACH ROW EXECUTE FUNCTION count_retention_change();

-- As before, but versions of earlier epochs are not written to.
CREATE OR REPLACE FUNCTION begin_rollup_run(site text, on_shard smallint, what text, asked datemultirange)
RETURNS TABLE (run bigint, chosen integer) LANGUAGE plpgsql AS
$$
DECLARE
    before integer;
BEGIN
    PERFORM FROM sites WHERE id = site AND shard = on_shard FOR NO KEY UPDATE;
    IF NOT FOUND OR EXISTS (SELECT FROM site_moves WHERE site_id = site AND hold IS NOT NULL) THEN
        RETURN;
    END IF;
    INSERT INTO rollup_state (site_id) VALUES (site) ON CONFLICT DO NOTHING;
    SELECT epoch * 1024 INTO before FROM ledger;
    SELECT coalesce(
        min(version) FILTER (WHERE NOT CASE what WHEN 'day' THEN written_days ELSE written_months END && asked),
        max(version) + 1,
        before + 1)
    INTO chosen FROM rollup_coverage WHERE site_id = site AND version > before;
    INSERT INTO rollup_coverage AS known (site_id, version, written_days, written_months)
    VALUES (site, chosen, CASE what WHEN 'day' THEN asked ELSE '{}' END, CASE what WHEN 'day' THEN '{}' ELSE asked END)
    ON CONFLICT (site_id, version) DO UPDATE
    SET written_days = known.written_days + excluded.written_days,
        written_months = known.written_months + excluded.written_months;
    INSERT INTO rollup_runs (site_id, span, version, writes, publishes, state)
    VALUES (site, what, chosen, asked, asked, 'writing')
    RETURNING id INTO run;
    RETURN NEXT;
END
$$;

-- Begins an epoch, unless another process has done so. `kept`: the days whose events are gone, which stay readable under their versions.
-- `copies`: the rows of sites that have some on another shard than the one where PostgreSQL expects them.
CREATE FUNCTION begin_epoch(known integer, next integer, retained_from date, kept jsonb, copies jsonb)
RETURNS boolean LANGUAGE plpgsql AS
$$
BEGIN
    UPDATE ledger SET epoch = next, began_at = now() WHERE epoch = known;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM FROM sites ORDER BY id FOR NO KEY UPDATE;
    DELETE FROM rollup_runs;
    DELETE FROM rollup_coverage;
    DELETE FROM today_coverage;
    UPDATE rollup_state SET considered_through = NULL, considered_at = NULL, invalidations = invalidations + 1, last_day_events = 0;
    -- A site may have moved between the two moments. Its fullest copy is the site, because the others were made from it.
    UPDATE sites SET shard = fullest.shard
    FROM (
        SELECT DISTINCT ON (site_id) site_id, one.shard
        FROM jsonb_to_recordset(copies) AS one (site_id text, shard smallint, rows bigint) JOIN sites AS expected ON id = site_id
        ORDER BY site_id, rows DESC, one.shard <> expected.shard
    ) AS fullest
    WHERE id = site_id;
    DELETE FROM site_moves;
    DELETE FROM deleted_sites WHERE id IN (SELECT id FROM sites);
    PERFORM record_copy_to_erase(sites, one.shard, now() + interval '20 minutes')
    FROM jsonb_to_recordset(copies) AS one (site_id text, shard smallint) JOIN sites ON id = site_id AND sites.shard <> one.shard;
    -- An older ClickHouse has rows again that were erased.
    UPDATE deleted_sites SET waiting_since = now(), reopened_at = clock_timestamp(), erased_at = NULL, rewritten_at = NULL, purged_at = NULL
    WHERE erased_at IS NOT NULL AND id NOT IN (SELECT id FROM sites);
    -- What is left of events before that day is rolled up and dropped again.
    UPDATE retention SET events_from = retained_from, rolled_up_at = now(), rolled_up_before = least(retained_from, coalesce(
        (SELECT date_trunc('month', max(last)) + interval '1 month' FROM jsonb_to_recordset(kept) AS one (last date)),
        '1970-01-01')::date);
    INSERT INTO rollup_coverage (site_id, version, days, written_days)
    SELECT site_id, version, days, days
    FROM (
        SELECT site_id, version, range_agg(daterange(first, last, '[]')) AS days
        FROM jsonb_to_recordset(kept) AS one (site_id text, version integer, first date, last date)
        GROUP BY site_id, version
    ) AS of_version
    WHERE site_id IN (SELECT id FROM sites);
    -- A process that runs may remember numbers of the earlier epoch.
    PERFORM setval('rollup_runs_id_seq', next::bigint << 32), setval('site_holds', next::bigint << 32),
        setval('replica_gap_marks', next::bigint << 32), setval('today_versions', 1 + floor(random() * 1e9)::bigint);
    UPDATE shards SET mark = 1, confirmed_mark = 0, compared_in = this_start();
    -- Without a notice: every process that finds another number drops what it has cached.
    UPDATE control_version SET version = version + 2;
    RETURN true;
END
$$;
