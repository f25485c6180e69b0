-- Folds under way, each by itself (decision D-73): what one makes readable in the end is its own, whoever else folds the same site.
-- A run ends by being deleted. One that nobody heard of for too long is given up, and stays: whatever it still writes is under a
-- version that these days are never written under again, so no clock decides what is right.
CREATE TABLE fold_runs
(
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site_id   text NOT NULL REFERENCES sites ON DELETE CASCADE,
    span      text NOT NULL CHECK (span IN ('day', 'month')),
    version   integer NOT NULL,
    -- Every day, or month, that it may write or delete rows of.
    writes    datemultirange NOT NULL,
    -- What of these becomes readable: less what events have come late for.
    publishes datemultirange NOT NULL,
    -- `swept` was given up as well, and its rows are deleted.
    state     text NOT NULL CHECK (state IN ('folding', 'sweeping', 'given up', 'swept')),
    alive_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX ON fold_runs (site_id);

ALTER TABLE site_folds DROP COLUMN pending_days, DROP COLUMN pending_months;

-- Who does what only one needs to do (decision D-130).
CREATE TABLE leases
(
    name       text PRIMARY KEY,
    holder     uuid NOT NULL,
    expires_at timestamptz NOT NULL
);

-- A site that was not folded to the end is looked at again, whatever it was looked at before.
ALTER TABLE site_folding ADD COLUMN is_unfinished boolean NOT NULL DEFAULT false;

-- The zone that open days were counted for: of another one they are other days (decision D-81).
ALTER TABLE open_folds ADD COLUMN time_zone text NOT NULL DEFAULT '';

-- What their rows are written under: no two counts have the same, also not two of one instant.
CREATE SEQUENCE open_fold_versions;

-- The functions below are what several statements under one lock would be, in one trip: nobody holds the lock while he waits for a
-- network. The lock is the site's row: it comes first, so that nobody waits for another in a circle.

CREATE FUNCTION whole_months(ranges datemultirange) RETURNS datemultirange LANGUAGE sql IMMUTABLE AS
$$
    SELECT coalesce(
        range_agg(daterange(
            date_trunc('month', lower(range))::date, (date_trunc('month', upper(range) - 1) + interval '1 month')::date)),
        '{}')
    FROM unnest(ranges) AS range
$$;

-- Under the lowest version that no row of these days was ever written under. No row: the site is gone.
CREATE FUNCTION begin_fold(site text, what text, asked datemultirange) RETURNS TABLE (run bigint, chosen integer)
    LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = site FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO site_folding (site_id) VALUES (site) ON CONFLICT DO NOTHING;
    SELECT coalesce(
        min(version) FILTER (WHERE NOT CASE what WHEN 'day' THEN written_days ELSE written_months END && asked),
        max(version) + 1,
        1)
    INTO chosen FROM site_folds WHERE site_id = site;
    INSERT INTO site_folds AS known (site_id, version, written_days, written_months)
    VALUES (site, chosen, CASE what WHEN 'day' THEN asked ELSE '{}' END, CASE what WHEN 'day' THEN '{}' ELSE asked END)
    ON CONFLICT (site_id, version) DO UPDATE
    SET written_days = known.written_days + excluded.written_days,
        written_months = known.written_months + excluded.written_months;
    INSERT INTO fold_runs (site_id, span, version, writes, publishes, state)
    VALUES (site, what, chosen, asked, asked, 'folding')
    RETURNING id INTO run;
    RETURN NEXT;
END
$$;

-- Makes readable what is left of a run and ends it. A month that one of its days is part of is no longer the sum of its days, also
-- one that is being written. A readable day whose events are no longer kept stays as it is: they may have been gone already when
-- they were read (decision D-79). False: the run was given up, or its site is gone.
CREATE FUNCTION commit_fold(run bigint) RETURNS boolean LANGUAGE plpgsql AS
$$
DECLARE
    fold     fold_runs;
    finished datemultirange;
    touched  datemultirange;
BEGIN
    PERFORM FROM sites WHERE id = (SELECT site_id FROM fold_runs WHERE id = run) FOR NO KEY UPDATE;
    DELETE FROM fold_runs WHERE id = run AND state = 'folding' RETURNING * INTO fold;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    finished := fold.publishes;
    IF fold.span = 'day' THEN
        finished := finished - coalesce(
            (SELECT range_agg(days) FROM site_folds WHERE site_id = fold.site_id)
            * (SELECT datemultirange(daterange(NULL, kept_from)) FROM retention), '{}');
        touched := whole_months(finished);
        UPDATE fold_runs SET publishes = publishes - touched WHERE site_id = fold.site_id AND span = 'month';
        UPDATE site_folds SET months = months - touched WHERE site_id = fold.site_id AND months && touched;
        UPDATE site_folds SET days = days - finished
        WHERE site_id = fold.site_id AND version <> fold.version AND days && finished;
        UPDATE site_folds SET days = days + finished WHERE site_id = fold.site_id AND version = fold.version;
    ELSE
        UPDATE site_folds SET months = months - finished
        WHERE site_id = fold.site_id AND version <> fold.version AND months && finished;
        UPDATE site_folds SET months = months + finished WHERE site_id = fold.site_id AND version = fold.version;
    END IF;
    RETURN true;
END
$$;

-- What was written, is not readable and belongs to no run; older than so long, so that nobody can still be reading it. It is claimed
-- by a run of its own: of two who sweep at once, each has other rows.
CREATE FUNCTION claim_leftovers(patience interval, most integer) RETURNS SETOF fold_runs LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('claim_leftovers'));
    RETURN QUERY
    INSERT INTO fold_runs (site_id, span, version, writes, publishes, state)
    SELECT site_id, rest.span, version, claimed.ranges, '{}', 'sweeping'
    FROM site_folds fold,
        LATERAL (VALUES ('day', written_days - days), ('month', written_months - months)) AS rest (span, ranges),
        LATERAL (
            SELECT rest.ranges - coalesce(range_agg(run.writes), '{}') AS ranges FROM fold_runs run
            WHERE run.site_id = fold.site_id AND run.version = fold.version AND run.span = rest.span
        ) AS claimed
    WHERE rest.ranges <> '{}' AND claimed.ranges <> '{}' AND changed_at < now() - patience
    LIMIT most
    RETURNING *;
END
$$;

-- Ends a run of which no row is left, or none was written: its days may be written under its version again.
CREATE FUNCTION release_run(run bigint) RETURNS void LANGUAGE plpgsql AS
$$
DECLARE
    ended fold_runs;
BEGIN
    PERFORM FROM sites WHERE id = (SELECT site_id FROM fold_runs WHERE id = run) FOR NO KEY UPDATE;
    DELETE FROM fold_runs WHERE id = run AND state IN ('folding', 'sweeping') RETURNING * INTO ended;
    UPDATE site_folds
    SET written_days = CASE ended.span WHEN 'day' THEN written_days - ended.writes ELSE written_days END,
        written_months = CASE ended.span WHEN 'month' THEN written_months - ended.writes ELSE written_months END
    WHERE site_id = ended.site_id AND version = ended.version;
END
$$;

-- Takes days that events came late for, and their months, out of what is readable and out of every fold under way (decision D-74).
-- The retention is locked until the end, so that no day is taken out after events before it were declared not to be kept any more.
CREATE FUNCTION note_late_days(site text, given datemultirange) RETURNS void LANGUAGE plpgsql AS
$$
DECLARE
    noted  datemultirange;
    touched datemultirange;
BEGIN
    PERFORM FROM sites WHERE id = site FOR NO KEY UPDATE;
    SELECT given * datemultirange(daterange(kept_from, NULL)) INTO noted FROM retention FOR SHARE;
    touched := whole_months(noted);
    UPDATE site_folding SET considered_through = lower(noted) - 1, late = late + 1
    WHERE site_id = site AND considered_through >= lower(noted);
    UPDATE fold_runs SET publishes = publishes - CASE span WHEN 'day' THEN noted ELSE touched END
    WHERE site_id = site AND publishes <> '{}';
    UPDATE site_folds SET days = days - noted, months = months - touched
    WHERE site_id = site AND (days && noted OR months && touched);
END
$$;

-- The same for everything there is of a site.
CREATE FUNCTION forget_folds(site text) RETURNS void LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = site FOR NO KEY UPDATE;
    UPDATE site_folding SET considered_through = NULL, late = late + 1, last_day_events = 0 WHERE site_id = site;
    UPDATE fold_runs SET publishes = '{}' WHERE site_id = site;
    UPDATE site_folds SET days = '{}', months = '{}' WHERE site_id = site AND (days <> '{}' OR months <> '{}');
    DELETE FROM open_folds WHERE site_id = site;
END
$$;
