-- Everything of a site is on one shard of ClickHouse (decision D-201). An installation with one ClickHouse has shard 1 only.
CREATE TABLE shards
(
    number     smallint PRIMARY KEY CHECK (number > 0),
    -- The share of its disk that is free, as last measured.
    free_share real NOT NULL DEFAULT 1
);

INSERT INTO shards (number) VALUES (1);

-- The shard for a new site: where most of the disk is free; any of those that differ by less than 5 %.
CREATE FUNCTION choose_shard() RETURNS smallint LANGUAGE sql VOLATILE AS
$$
    SELECT number FROM shards
    ORDER BY round(free_share * 20) DESC, random()
    LIMIT 1
$$;

ALTER TABLE sites ADD COLUMN shard smallint NOT NULL DEFAULT 1 REFERENCES shards;

CREATE INDEX ON sites (shard);

ALTER TABLE deleted_sites ADD COLUMN shard smallint NOT NULL DEFAULT 1 REFERENCES shards;

CREATE OR REPLACE FUNCTION remember_deleted_site() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    DELETE FROM deleted_sites WHERE id = OLD.id;
    INSERT INTO deleted_sites (id, domain, account_id, shard) VALUES (OLD.id, OLD.domain, OLD.account_id, OLD.shard);
    RETURN NULL;
END
$$;

-- As before, for the sites of one shard.
DROP FUNCTION claim_leftovers(interval, integer);
CREATE FUNCTION claim_leftovers(on_shard smallint, patience interval, most integer) RETURNS SETOF rollup_runs LANGUAGE plpgsql AS
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
    WHERE rest.ranges <> '{}' AND claimed.ranges <> '{}' AND changed_at < now() - patience
    LIMIT most
    RETURNING *;
END
$$;
