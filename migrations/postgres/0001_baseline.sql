-- Accounts, sites and keys. Ids are random and opaque. Deleting an account or a site also deletes its keys.
CREATE TABLE accounts
(
    id         text PRIMARY KEY CHECK (id ~ '^acct_[a-z2-7]{16}$'),
    name       text NOT NULL,
    plan       text NOT NULL CHECK (plan IN ('Free', 'Starter', 'Growth', 'Scale', 'Agency')),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sites
(
    id                 text PRIMARY KEY CHECK (id ~ '^site_[a-z2-7]{16}$'),
    account_id         text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    domain             text NOT NULL UNIQUE,
    time_zone          text NOT NULL DEFAULT 'UTC',
    hostnames          text[] NOT NULL DEFAULT '{}',
    -- If false, only these host names and their `www.` belong to the site. Site ids are public, so anybody could otherwise invent
    -- subdomains and fill the site's lists with them (decision D-157).
    allow_subdomains   boolean NOT NULL DEFAULT false,
    excluded_countries text[] NOT NULL DEFAULT '{}',
    created_at         timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX ON sites (account_id);

-- A key with a site reads that site. A key without one reads every site of its account.
CREATE TABLE api_keys
(
    id             text PRIMARY KEY CHECK (id ~ '^key_[a-z2-7]{16}$'),
    account_id     text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    site_id        text REFERENCES sites ON DELETE CASCADE,
    name           text NOT NULL,
    prefix         text NOT NULL,
    hash           bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    secret_version integer NOT NULL,
    disabled       boolean NOT NULL DEFAULT false,
    expires_at     timestamptz,
    last_used_at   timestamptz,
    created_at     timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX ON api_keys (account_id);
CREATE INDEX ON api_keys (site_id);

-- Every change to an account, a site or a key increments one counter in the same transaction and sends a notification with the changed
-- id. Processes listen for notifications and also poll the counter, so they find a missed notification within half a second. The row
-- lock makes the counter follow the order of commits, which a sequence would not.
CREATE TABLE control_version
(
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  bigint NOT NULL
);

INSERT INTO control_version (version) VALUES (0);

CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || COALESCE(NEW.id, OLD.id));
    RETURN NULL;
END
$$;

CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE OF plan ON accounts
    FOR EACH ROW EXECUTE FUNCTION announce_change();

CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE ON sites
    FOR EACH ROW EXECUTE FUNCTION announce_change();

-- Without last_used_at, which changes often and affects no answer.
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE OF disabled, expires_at, hash, secret_version ON api_keys
    FOR EACH ROW EXECUTE FUNCTION announce_change();

-- Visitor ids are hashed with a salt: one random salt per day and time zone, shared by all collectors and never derived from anything.
-- Once a salt is deleted, nobody can compute the ids of its day again.
CREATE TABLE salts
(
    time_zone text NOT NULL,
    day       date NOT NULL,
    salt      bytea NOT NULL CHECK (octet_length(salt) = 32),
    PRIMARY KEY (time_zone, day)
);

-- Imported files with traffic. Each file is imported once. The salt for its visitor ids is deleted when the import ends, or when
-- nobody continues it for too long (decision D-120). The progress is stored, so that an import can be stopped and continued.
CREATE TABLE imports
(
    id           uuid PRIMARY KEY,
    site_id      text NOT NULL REFERENCES sites ON DELETE CASCADE,
    -- SHA-256 of the file: the same content is the same import, whatever its file name.
    content      bytea NOT NULL CHECK (octet_length(content) = 32),
    -- The site's time zone when the import began: a later change must not move the remaining days.
    time_zone    text NOT NULL,
    salt         bytea CHECK (octet_length(salt) = 32),
    batches_done integer NOT NULL DEFAULT 0,
    started_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    UNIQUE (site_id, content),
    CONSTRAINT imports_salt_until_end CHECK (salt IS NULL OR finished_at IS NULL)
);

-- Deleted sites. Their data in ClickHouse must be erased. The deletion itself records this job, so that no outage loses it (decision
-- D-145). Events of a deleted site may still arrive, and must be erased, too (decision D-96).
CREATE TABLE deleted_sites
(
    id            text PRIMARY KEY,
    domain        text,
    deleted_at    timestamptz NOT NULL DEFAULT now(),
    -- Since when ClickHouse may hold its rows; null: since it was deleted.
    waiting_since timestamptz,
    -- When events last arrived after the deletion. A job that began before that is not done.
    reopened_at   timestamptz,
    -- Since then no statement finds its rows.
    erased_at     timestamptz,
    -- When the parts with its rows were rewritten without them, by ClickHouse's clock.
    rewritten_at  timestamptz,
    -- Since then the files of the old parts are gone, too.
    purged_at     timestamptz
);

CREATE FUNCTION remember_deleted_site() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    DELETE FROM deleted_sites WHERE id = OLD.id;
    INSERT INTO deleted_sites (id, domain) VALUES (OLD.id, OLD.domain);
    RETURN NULL;
END
$$;

CREATE TRIGGER remember_deleted AFTER DELETE ON sites
    FOR EACH ROW EXECUTE FUNCTION remember_deleted_site();

-- A lease lets one process at a time do a job (decision D-130).
CREATE TABLE leases
(
    name       text PRIMARY KEY,
    holder     uuid NOT NULL,
    expires_at timestamptz NOT NULL
);

-- The first day whose events are retained (decision D-79). The table has one row. Its dates are first days of months, because
-- retention drops months. The epoch's first day has no events, so 1970-01-01 means that all events are retained.
CREATE TABLE retention
(
    only_row         boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- Nobody writes events for earlier days, and an earlier day that is rolled up is never rolled up again.
    events_from      date NOT NULL DEFAULT '1970-01-01' CHECK (extract(day FROM events_from) = 1),
    -- Every earlier day with events is rolled up. Its events may be dropped once no reader can be using them any more.
    rolled_up_before date NOT NULL DEFAULT '1970-01-01' CHECK (rolled_up_before <= events_from),
    rolled_up_at     timestamptz NOT NULL DEFAULT now()
);

INSERT INTO retention DEFAULT VALUES;

-- Retention is part of every site. No notification is needed: a process that finds the counter changed by polling forgets all sites.
CREATE FUNCTION announce_retention() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    UPDATE control_version SET version = version + 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER announce AFTER INSERT OR UPDATE OF events_from ON retention
    FOR EACH ROW EXECUTE FUNCTION announce_retention();

-- Which days and months of a site are read from rollups, and under which version of their rows (decisions D-73 and D-74). A day is in
-- the `days` of at most one version. The rows of a (version, day) are written once: the `written` columns list every day that may
-- have rows.
CREATE TABLE rollup_coverage
(
    site_id        text NOT NULL REFERENCES sites ON DELETE CASCADE,
    version        integer NOT NULL,
    days           datemultirange NOT NULL DEFAULT '{}',
    months         datemultirange NOT NULL DEFAULT '{}',
    written_days   datemultirange NOT NULL DEFAULT '{}',
    written_months datemultirange NOT NULL DEFAULT '{}',
    changed_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (site_id, version)
);

-- How far a site's days are settled. Writing an event for a day up to `considered_through` increments `invalidations`. Cached
-- responses about such days are valid until then (decision D-78).
CREATE TABLE rollup_state
(
    site_id            text PRIMARY KEY REFERENCES sites ON DELETE CASCADE,
    considered_through date,
    considered_at      timestamptz,
    invalidations      integer NOT NULL DEFAULT 0,
    -- The next round rolls up an unfinished site again.
    is_unfinished      boolean NOT NULL DEFAULT false,
    -- Events on the last day that was rolled up. They decide whether the site is busy.
    last_day_events    integer NOT NULL DEFAULT 0
);

-- Active runs (decision D-73). A run publishes only what it wrote itself, even if other runs roll up the same site. A run ends when
-- its row is deleted. A run that shows no sign of life for too long is given up, and its row stays: it may still write, but under a
-- version that these days never use again. So no clock decides which rows are right.
CREATE TABLE rollup_runs
(
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site_id   text NOT NULL REFERENCES sites ON DELETE CASCADE,
    span      text NOT NULL CHECK (span IN ('day', 'month')),
    version   integer NOT NULL,
    -- Every day or month for which it may write or delete rows.
    writes    datemultirange NOT NULL,
    -- The days or months that become readable. Those that got events in the meantime are taken out.
    publishes datemultirange NOT NULL,
    -- `swept`: the run was given up, and its rows are deleted.
    state     text NOT NULL CHECK (state IN ('writing', 'sweeping', 'given up', 'swept')),
    alive_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX ON rollup_runs (site_id);

-- The last count of a busy site's today (decision D-81). Queries read it instead of the events while `as_of` is recent.
CREATE TABLE today_coverage
(
    site_id   text PRIMARY KEY REFERENCES sites ON DELETE CASCADE,
    -- The time zone of the count: in another zone these are other days.
    time_zone text NOT NULL,
    first_day date NOT NULL,
    last_day  date NOT NULL,
    version   bigint NOT NULL,
    as_of     timestamptz NOT NULL,
    -- Parts of closed days, where the previous periods end: day, instant, and the version under which the day was readable.
    parts     jsonb NOT NULL DEFAULT '[]'
);

-- No two counts have the same version, not even two counts of the same instant.
CREATE SEQUENCE today_versions;

-- [["2026-01-01", "2026-01-31"], …], both ends inclusive.
CREATE FUNCTION day_ranges(ranges datemultirange) RETURNS jsonb LANGUAGE sql IMMUTABLE AS
$$
    SELECT coalesce(jsonb_agg(jsonb_build_array(lower(range)::text, (upper(range) - 1)::text) ORDER BY range), '[]')
    FROM unnest(ranges) AS range
$$;

CREATE FUNCTION whole_months(ranges datemultirange) RETURNS datemultirange LANGUAGE sql IMMUTABLE AS
$$
    SELECT coalesce(
        range_agg(daterange(
            date_trunc('month', lower(range))::date, (date_trunc('month', upper(range) - 1) + interval '1 month')::date)),
        '{}')
    FROM unnest(ranges) AS range
$$;

CREATE FUNCTION note_coverage_change() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    NEW.changed_at := now();
    RETURN NEW;
END
$$;

CREATE TRIGGER note_change BEFORE UPDATE ON rollup_coverage
    FOR EACH ROW WHEN (OLD.days <> NEW.days OR OLD.months <> NEW.months)
    EXECUTE FUNCTION note_coverage_change();

-- Coverage is part of the site, so a change to it is announced as a change of the site.
CREATE FUNCTION announce_coverage() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || NEW.site_id);
    RETURN NULL;
END
$$;

CREATE TRIGGER announce AFTER UPDATE ON rollup_coverage
    FOR EACH ROW WHEN (OLD.days <> NEW.days OR OLD.months <> NEW.months)
    EXECUTE FUNCTION announce_coverage();

CREATE TRIGGER announce_first AFTER INSERT ON rollup_state
    FOR EACH ROW EXECUTE FUNCTION announce_coverage();

CREATE TRIGGER announce AFTER UPDATE ON rollup_state
    FOR EACH ROW WHEN (
        OLD.considered_through IS DISTINCT FROM NEW.considered_through OR OLD.invalidations <> NEW.invalidations)
    EXECUTE FUNCTION announce_coverage();

CREATE TRIGGER announce AFTER INSERT OR UPDATE ON today_coverage
    FOR EACH ROW EXECUTE FUNCTION announce_coverage();

-- Each function below replaces several statements under one lock with one round trip, so that nobody holds the lock while waiting for
-- the network. The lock is the site's row. It is taken before any other, so that there are no deadlocks.

-- Chooses the lowest version under which no rows of these days were ever written. Returns no row if the site is gone.
CREATE FUNCTION begin_rollup_run(site text, what text, asked datemultirange) RETURNS TABLE (run bigint, chosen integer)
    LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = site FOR NO KEY UPDATE;
    IF NOT FOUND THEN
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

-- Makes the remaining days or months of a run readable and ends the run. Days take their months out of the readable months and out of
-- active runs, because such a month is no longer the sum of its days. A readable day whose events are no longer retained stays as it
-- is: the run may have read it after its events were dropped (decision D-79). Returns false if the run was given up or its site is gone.
CREATE FUNCTION publish_rollup_run(run bigint) RETURNS boolean LANGUAGE plpgsql AS
$$
DECLARE
    ended    rollup_runs;
    finished datemultirange;
    touched  datemultirange;
BEGIN
    PERFORM FROM sites WHERE id = (SELECT site_id FROM rollup_runs WHERE id = run) FOR NO KEY UPDATE;
    DELETE FROM rollup_runs WHERE id = run AND state = 'writing' RETURNING * INTO ended;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    finished := ended.publishes;
    IF ended.span = 'day' THEN
        finished := finished - coalesce(
            (SELECT range_agg(days) FROM rollup_coverage WHERE site_id = ended.site_id)
            * (SELECT datemultirange(daterange(NULL, events_from)) FROM retention), '{}');
        touched := whole_months(finished);
        UPDATE rollup_runs SET publishes = publishes - touched WHERE site_id = ended.site_id AND span = 'month';
        UPDATE rollup_coverage SET months = months - touched WHERE site_id = ended.site_id AND months && touched;
        UPDATE rollup_coverage SET days = days - finished
        WHERE site_id = ended.site_id AND version <> ended.version AND days && finished;
        UPDATE rollup_coverage SET days = days + finished WHERE site_id = ended.site_id AND version = ended.version;
    ELSE
        UPDATE rollup_coverage SET months = months - finished
        WHERE site_id = ended.site_id AND version <> ended.version AND months && finished;
        UPDATE rollup_coverage SET months = months + finished WHERE site_id = ended.site_id AND version = ended.version;
    END IF;
    RETURN true;
END
$$;

-- Claims rows that are written but not readable and belong to no run. They are older than `patience`, so that no reader can still be
-- using them. A run of its own claims them, so that two concurrent sweeps get different rows.
CREATE FUNCTION claim_leftovers(patience interval, most integer) RETURNS SETOF rollup_runs LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('claim_leftovers'));
    RETURN QUERY
    INSERT INTO rollup_runs (site_id, span, version, writes, publishes, state)
    SELECT site_id, rest.span, version, claimed.ranges, '{}', 'sweeping'
    FROM rollup_coverage covered,
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

-- Ends a run without rows: it wrote none, or they are deleted. Its days may be written under its version again.
CREATE FUNCTION release_run(run bigint) RETURNS void LANGUAGE plpgsql AS
$$
DECLARE
    ended rollup_runs;
BEGIN
    PERFORM FROM sites WHERE id = (SELECT site_id FROM rollup_runs WHERE id = run) FOR NO KEY UPDATE;
    DELETE FROM rollup_runs WHERE id = run AND state IN ('writing', 'sweeping') RETURNING * INTO ended;
    UPDATE rollup_coverage
    SET written_days = CASE ended.span WHEN 'day' THEN written_days - ended.writes ELSE written_days END,
        written_months = CASE ended.span WHEN 'month' THEN written_months - ended.writes ELSE written_months END
    WHERE site_id = ended.site_id AND version = ended.version;
END
$$;

-- Takes days with new events, and their months, out of the readable rollups and out of every active run (decision D-74). It locks the
-- retention until the end, so that no day is taken out after its events stopped being retained.
CREATE FUNCTION invalidate_days(site text, given datemultirange) RETURNS void LANGUAGE plpgsql AS
$$
DECLARE
    noted   datemultirange;
    touched datemultirange;
BEGIN
    PERFORM FROM sites WHERE id = site FOR NO KEY UPDATE;
    SELECT given * datemultirange(daterange(events_from, NULL)) INTO noted FROM retention FOR SHARE;
    touched := whole_months(noted);
    UPDATE rollup_state SET considered_through = lower(noted) - 1, invalidations = invalidations + 1
    WHERE site_id = site AND considered_through >= lower(noted);
    UPDATE rollup_runs SET publishes = publishes - CASE span WHEN 'day' THEN noted ELSE touched END
    WHERE site_id = site AND publishes <> '{}';
    UPDATE rollup_coverage SET days = days - noted, months = months - touched
    WHERE site_id = site AND (days && noted OR months && touched);
END
$$;

-- Takes all days of a site out of the readable rollups and out of every active run.
CREATE FUNCTION forget_rollups(site text) RETURNS void LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = site FOR NO KEY UPDATE;
    UPDATE rollup_state SET considered_through = NULL, invalidations = invalidations + 1, last_day_events = 0
    WHERE site_id = site;
    UPDATE rollup_runs SET publishes = '{}' WHERE site_id = site;
    UPDATE rollup_coverage SET days = '{}', months = '{}' WHERE site_id = site AND (days <> '{}' OR months <> '{}');
    DELETE FROM today_coverage WHERE site_id = site;
END
$$;
