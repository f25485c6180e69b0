-- Many small sites are rolled up together (decision D-200). Each function locks all its sites first, in one order. Functions for one
-- site lock the site and then the counter of changes, so locking another site after the counter could end in a deadlock.

-- Records that all days through this one are being looked at. After a move to the west the last closed day may be earlier than before:
-- cached responses about the days after it become invalid.
CREATE FUNCTION consider_sites(asked text[], through date) RETURNS void LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = ANY (asked) ORDER BY id FOR NO KEY UPDATE;
    INSERT INTO rollup_state AS known (site_id, considered_through, considered_at, is_unfinished)
    SELECT id, through, now(), true FROM sites WHERE id = ANY (asked)
    ON CONFLICT (site_id) DO UPDATE
    SET considered_through = excluded.considered_through, considered_at = now(), is_unfinished = true,
        invalidations = known.invalidations + CASE WHEN excluded.considered_through < known.considered_through THEN 1 ELSE 0 END;
END
$$;

-- Returns no row for a site that is gone.
CREATE FUNCTION begin_rollup_runs(asked text[], days datemultirange) RETURNS TABLE (site text, run bigint, chosen integer)
    LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = ANY (asked) ORDER BY id FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT one.id, begun.run, begun.chosen
    FROM unnest(asked) AS one (id), LATERAL begin_rollup_run(one.id, 'day', days) AS begun;
END
$$;

CREATE FUNCTION publish_rollup_runs(asked bigint[]) RETURNS TABLE (run bigint, published boolean) LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id IN (SELECT site_id FROM rollup_runs WHERE rollup_runs.id = ANY (asked)) ORDER BY id FOR NO KEY UPDATE;
    RETURN QUERY SELECT one.id, publish_rollup_run(one.id) FROM unnest(asked) AS one (id);
END
$$;

-- `given` has the id of each site and, if its last day was rolled up, the events of that day.
CREATE FUNCTION finish_sites(given jsonb) RETURNS void LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id IN (SELECT one ->> 'id' FROM jsonb_array_elements(given) AS one) ORDER BY id FOR NO KEY UPDATE;
    UPDATE rollup_state SET is_unfinished = false, last_day_events = coalesce(one.events, last_day_events)
    FROM jsonb_to_recordset(given) AS one (id text, events integer)
    WHERE site_id = one.id;
END
$$;
