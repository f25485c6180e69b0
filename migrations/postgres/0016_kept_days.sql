-- As before, with two differences. Days count as kept only if the shard that the site is read from has their rows: an older copy of another
-- shard has events for them instead. And nothing counts as rolled up for good before every shard was visited again: an older copy may have
-- events back that retention had dropped.
CREATE OR REPLACE FUNCTION begin_epoch(known integer, next integer, retained_from date, kept jsonb, copies jsonb)
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
    UPDATE retention SET events_from = retained_from, rolled_up_at = now(), rolled_up_before = '1970-01-01';
    INSERT INTO rollup_coverage (site_id, version, days, written_days)
    SELECT site_id, version, days, days
    FROM (
        SELECT site_id, version, range_agg(daterange(first, last, '[]')) AS days
        FROM jsonb_to_recordset(kept) AS one (site_id text, version integer, first date, last date, shard smallint)
            -- A process of the version before this one does not name the shard.
            JOIN sites ON id = site_id AND sites.shard = coalesce(one.shard, sites.shard)
        GROUP BY site_id, version
    ) AS of_version;
    -- A process that runs may remember numbers of the earlier epoch.
    PERFORM setval('rollup_runs_id_seq', next::bigint << 32), setval('site_holds', next::bigint << 32),
        setval('replica_gap_marks', next::bigint << 32), setval('today_versions', 1 + floor(random() * 1e9)::bigint);
    UPDATE shards SET mark = 1, confirmed_mark = 0, compared_in = this_start();
    -- Without a notice: every process that finds another number drops what it has cached.
    UPDATE control_version SET version = version + 2;
    RETURN true;
END
$$;
