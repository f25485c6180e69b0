-- A site moves to another shard while it is read and written (decision D-203). Its rows are copied; then the collectors hold back its
-- events, the rest is copied, and `sites.shard` changes. The old copy is erased later.

-- Collectors that may have events in their spool. A site does not move before each of them has confirmed that it holds back its events.
CREATE TABLE collectors
(
    id      text PRIMARY KEY,
    host    text NOT NULL,
    -- The number of shards that it knows.
    shards  smallint NOT NULL,
    -- The holds that it has confirmed.
    holds   bigint[] NOT NULL DEFAULT '{}',
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- The last move of each site. The row stays: collectors that were away learn from it where events of the site belong.
CREATE TABLE site_moves
(
    site_id    text PRIMARY KEY,
    from_shard smallint NOT NULL REFERENCES shards,
    to_shard   smallint NOT NULL REFERENCES shards,
    -- While it is set, collectors hold back events, and nobody writes rollups. Each hold has its own number.
    hold       bigint,
    -- Since then the site is on its new shard.
    moved_at   timestamptz,
    changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX ON site_moves (changed_at);
CREATE INDEX ON site_moves (site_id) WHERE hold IS NOT NULL;

CREATE SEQUENCE site_holds;

-- A site may have rows to erase on two shards: it was moved, or deleted while it moved.
ALTER TABLE deleted_sites DROP CONSTRAINT deleted_sites_pkey, ADD PRIMARY KEY (id, shard);
ALTER TABLE deleted_sites ADD COLUMN erase_after timestamptz NOT NULL DEFAULT now();

CREATE FUNCTION record_copy_to_erase(site sites, on_shard smallint, after timestamptz) RETURNS void LANGUAGE sql AS
$$
    DELETE FROM deleted_sites WHERE id = site.id AND shard = on_shard;
    INSERT INTO deleted_sites (id, domain, account_id, shard, erase_after)
    VALUES (site.id, site.domain, site.account_id, on_shard, after)
$$;

CREATE OR REPLACE FUNCTION remember_deleted_site() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    copied smallint;
BEGIN
    PERFORM record_copy_to_erase(OLD, OLD.shard, now());
    UPDATE site_moves SET hold = NULL, changed_at = now() WHERE site_id = OLD.id
    RETURNING CASE WHEN moved_at IS NULL THEN to_shard END INTO copied;
    IF copied IS NOT NULL THEN
        PERFORM record_copy_to_erase(OLD, copied, now());
    END IF;
    UPDATE deleted_sites SET erase_after = now() WHERE id = OLD.id AND erase_after > now();
    RETURN NULL;
END
$$;

-- Begins a move, or continues one that was interrupted. Returns why it cannot, or NULL.
CREATE FUNCTION begin_site_move(site text, target smallint) RETURNS text LANGUAGE plpgsql AS
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
    ELSIF EXISTS (SELECT FROM deleted_sites WHERE id = site AND shard = target AND erased_at IS NULL) THEN
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

-- Begins a hold. Rollup runs that are under way are given up: their rows are deleted on the new shard, and the days are rolled up there.
CREATE FUNCTION hold_site(site text) RETURNS bigint LANGUAGE plpgsql AS
$$
DECLARE
    number bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('claim_leftovers'));
    PERFORM FROM sites WHERE id = site FOR NO KEY UPDATE;
    UPDATE site_moves SET hold = nextval('site_holds'), changed_at = now() WHERE site_id = site AND moved_at IS NULL
    RETURNING hold INTO number;
    UPDATE rollup_runs SET state = 'given up', publishes = '{}' WHERE site_id = site AND state IN ('writing', 'sweeping');
    RETURN number;
END
$$;

-- Changes the shard of a site, unless its hold has ended. Readers may use the old copy until `erase_old_after`.
CREATE FUNCTION change_shard(site text, held bigint, erase_old_after timestamptz) RETURNS boolean LANGUAGE plpgsql AS
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
    DELETE FROM today_coverage WHERE site_id = site;
    PERFORM record_copy_to_erase(moved, moving.from_shard, erase_old_after);
    RETURN true;
END
$$;

-- Gives up a move, and erases what was copied. False: there is none, or the site has already moved.
CREATE FUNCTION cancel_site_move(site text) RETURNS boolean LANGUAGE plpgsql AS
$$
DECLARE
    target smallint;
    stays  sites;
BEGIN
    SELECT * INTO stays FROM sites WHERE id = site FOR NO KEY UPDATE;
    -- The row stays, as that of a site that has moved to the shard where it is.
    UPDATE site_moves AS moving SET hold = NULL, moved_at = now(), to_shard = moving.from_shard, changed_at = now()
    FROM site_moves AS before
    WHERE moving.site_id = site AND before.site_id = site AND moving.moved_at IS NULL
    RETURNING before.to_shard INTO target;
    IF target IS NULL OR stays.id IS NULL THEN
        RETURN false;
    END IF;
    PERFORM record_copy_to_erase(stays, target, now());
    RETURN true;
END
$$;

-- A collector reports, and learns which moves have changed since `since`, with some overlap because transactions end out of order. The
-- last row has the time for the next call. A hold ends when the process that moves the site has ended, so that its events do not wait
-- for ever.
CREATE FUNCTION report_collector(given_id text, given_host text, known_shards smallint, confirmed bigint[], since timestamptz)
RETURNS TABLE (site_id text, shard smallint, hold bigint, as_of timestamptz) LANGUAGE plpgsql AS
$$
BEGIN
    INSERT INTO collectors AS known (id, host, shards, holds) VALUES (given_id, given_host, known_shards, confirmed)
    ON CONFLICT (id) DO UPDATE SET host = excluded.host, shards = excluded.shards, holds = excluded.holds, seen_at = now()
    WHERE known.seen_at < now() - interval '10 seconds' OR known.holds <> excluded.holds OR known.shards <> excluded.shards;
    UPDATE site_moves AS moving SET hold = NULL, changed_at = now()
    WHERE moving.hold IS NOT NULL
        AND NOT EXISTS (SELECT FROM leases WHERE name = 'move ' || moving.site_id AND expires_at > now());
    RETURN QUERY
    SELECT moving.site_id, coalesce(sites.shard, moving.from_shard), moving.hold, now()
    FROM site_moves AS moving LEFT JOIN sites ON sites.id = moving.site_id
    WHERE moving.changed_at > since - interval '1 minute'
    UNION ALL SELECT NULL, NULL, NULL, now();
END
$$;

-- The next three as before, and only on the shard of the site, and not while it is held.
DROP FUNCTION begin_rollup_runs(text[], datemultirange);
DROP FUNCTION begin_rollup_run(text, text, datemultirange);

CREATE FUNCTION begin_rollup_run(site text, on_shard smallint, what text, asked datemultirange) RETURNS TABLE (run bigint, chosen integer)
LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = site AND shard = on_shard FOR NO KEY UPDATE;
    IF NOT FOUND OR EXISTS (SELECT FROM site_moves WHERE site_id = site AND hold IS NOT NULL) THEN
        RETURN;
    END IF;
    INSERT INTO rollup_state (site_id) VALUES (site) ON CONFLICT DO NOTHING;
    SELECT coalesce(
        min(version) FILTER (WHERE NOT CASE what WHEN 'day' THEN written_days ELSE written_months END && asked),
        max(version) + 1,
        1)
    INTO chosen FROM rollup_coverage WHERE site_id = site;
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

CREATE FUNCTION begin_rollup_runs(asked text[], on_shard smallint, days datemultirange)
RETURNS TABLE (site text, run bigint, chosen integer) LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = ANY (asked) ORDER BY id FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT one.id, begun.run, begun.chosen
    FROM unnest(asked) AS one (id), LATERAL begin_rollup_run(one.id, on_shard, 'day', days) AS begun;
END
$$;

CREATE OR REPLACE FUNCTION claim_leftovers(on_shard smallint, patience interval, most integer) RETURNS SETOF rollup_runs LANGUAGE plpgsql AS
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
        AND NOT EXISTS (SELECT FROM site_moves WHERE site_moves.site_id = covered.site_id AND hold IS NOT NULL)
    LIMIT most
    RETURNING *;
END
$$;
