-- What the rows of a version contain. 1: rollups. 2: rollups and `sessions` (D-237). A version has one layout, so runs of different layouts
-- never share one. A process of the version before this one begins runs with the functions below that do not name a layout.
ALTER TABLE rollup_coverage ADD COLUMN layout smallint NOT NULL DEFAULT 1;

CREATE FUNCTION begin_rollup_run(site text, on_shard smallint, what text, asked datemultirange, of_layout smallint)
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
        min(version) FILTER (
            WHERE layout = of_layout AND NOT CASE what WHEN 'day' THEN written_days ELSE written_months END && asked),
        max(version) + 1,
        before + 1)
    INTO chosen FROM rollup_coverage WHERE site_id = site AND version > before;
    INSERT INTO rollup_coverage AS known (site_id, version, layout, written_days, written_months)
    VALUES (site, chosen, of_layout, CASE what WHEN 'day' THEN asked ELSE '{}' END, CASE what WHEN 'day' THEN '{}' ELSE asked END)
    ON CONFLICT (site_id, version) DO UPDATE
    SET written_days = known.written_days + excluded.written_days,
        written_months = known.written_months + excluded.written_months;
    INSERT INTO rollup_runs (site_id, span, version, writes, publishes, state)
    VALUES (site, what, chosen, asked, asked, 'writing')
    RETURNING id INTO run;
    RETURN NEXT;
END
$$;

CREATE FUNCTION begin_rollup_runs(asked text[], on_shard smallint, days datemultirange, of_layout smallint)
RETURNS TABLE (site text, run bigint, chosen integer) LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = ANY (asked) ORDER BY id FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT one.id, begun.run, begun.chosen
    FROM unnest(asked) AS one (id), LATERAL begin_rollup_run(one.id, on_shard, 'day', days, of_layout) AS begun;
END
$$;

CREATE OR REPLACE FUNCTION begin_rollup_run(site text, on_shard smallint, what text, asked datemultirange)
RETURNS TABLE (run bigint, chosen integer) LANGUAGE plpgsql AS
$$
BEGIN
    RETURN QUERY SELECT * FROM begin_rollup_run(site, on_shard, what, asked, 1::smallint);
END
$$;

CREATE OR REPLACE FUNCTION begin_rollup_runs(asked text[], on_shard smallint, days datemultirange)
RETURNS TABLE (site text, run bigint, chosen integer) LANGUAGE plpgsql AS
$$
BEGIN
    RETURN QUERY SELECT * FROM begin_rollup_runs(asked, on_shard, days, 1::smallint);
END
$$;

-- As before. `of_layout` is what the process has copied, so that nobody reads rows that stayed on the other shard.
CREATE FUNCTION change_shard(site text, held bigint, erase_old_after timestamp with time zone, of_layout smallint)
RETURNS boolean LANGUAGE plpgsql AS
$$
DECLARE
    moving site_moves;
    moved  sites;
BEGIN
    SELECT * INTO moved FROM sites WHERE id = site FOR NO KEY UPDATE;
    UPDATE site_moves SET moved_at = now(), changed_at = now() WHERE site_id = site AND hold = held AND moved_at IS NULL
    RETURNING * INTO moving;
    IF moved.id IS NULL OR moving.site_id IS NULL THEN
        RETURN false;
    END IF;
    UPDATE sites SET shard = moving.to_shard WHERE id = site;
    UPDATE rollup_coverage SET layout = of_layout WHERE site_id = site AND layout > of_layout;
    DELETE FROM today_coverage WHERE site_id = site;
    PERFORM record_copy_to_erase(moved, moving.from_shard, erase_old_after);
    RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION change_shard(site text, held bigint, erase_old_after timestamp with time zone)
RETURNS boolean LANGUAGE plpgsql AS
$$
BEGIN
    RETURN change_shard(site, held, erase_old_after, 1::smallint);
END
$$;

-- As before. A process of the version before this one does not know `sessions`, so it must not sweep a version that has some: it would leave
-- them, and the next run of these days would write theirs beside them under the same version.
CREATE FUNCTION claim_leftovers(on_shard smallint, patience interval, most integer, of_layout smallint)
RETURNS SETOF rollup_runs LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('claim_leftovers'));
    RETURN QUERY
    INSERT INTO rollup_runs (site_id, span, version, writes, publishes, state)
    SELECT site_id, rest.span, version, claimed.ranges, '{}', 'sweeping'
    FROM rollup_coverage covered JOIN sites ON sites.id = site_id AND shard = on_shard,
        LATERAL (VALUES ('day', written_days - days), ('month', written_months - months)) AS rest (span, ranges),
        LATERAL (
            SELECT rest.ranges - coalesce(range_agg(run.writes), '{}') AS ranges FROM rollup_runs run
            WHERE run.site_id = covered.site_id AND run.version = covered.version AND run.span = rest.span
        ) AS claimed
    WHERE rest.ranges <> '{}' AND claimed.ranges <> '{}' AND covered.changed_at < now() - patience
        AND layout <= of_layout
        AND NOT EXISTS (SELECT FROM site_moves WHERE site_moves.site_id = covered.site_id AND hold IS NOT NULL)
    LIMIT most
    RETURNING *;
END
$$;

CREATE OR REPLACE FUNCTION claim_leftovers(on_shard smallint, patience interval, most integer)
RETURNS SETOF rollup_runs LANGUAGE plpgsql AS
$$
BEGIN
    RETURN QUERY SELECT * FROM claim_leftovers(on_shard, patience, most, 1::smallint);
END
$$;
