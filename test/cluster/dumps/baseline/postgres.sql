CREATE SEQUENCE today_versions;

CREATE TABLE accounts
(
    id         text NOT NULL,
    name       text NOT NULL,
    plan       text NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT accounts_pkey PRIMARY KEY (id),
    CONSTRAINT accounts_id_check CHECK (id ~ '^acct_[a-z2-7]{16}$'::text),
    CONSTRAINT accounts_plan_check CHECK (plan = ANY (ARRAY['Free'::text, 'Starter'::text, 'Growth'::text, 'Scale'::text, 'Agency'::text]))
);

CREATE TABLE control_version
(
    only_row boolean NOT NULL DEFAULT true,
    version  bigint NOT NULL,
    CONSTRAINT control_version_pkey PRIMARY KEY (only_row),
    CONSTRAINT control_version_only_row_check CHECK (only_row)
);

CREATE TABLE deleted_sites
(
    id            text NOT NULL,
    domain        text,
    deleted_at    timestamp with time zone NOT NULL DEFAULT now(),
    waiting_since timestamp with time zone,
    reopened_at   timestamp with time zone,
    erased_at     timestamp with time zone,
    rewritten_at  timestamp with time zone,
    purged_at     timestamp with time zone,
    CONSTRAINT deleted_sites_pkey PRIMARY KEY (id)
);

CREATE TABLE leases
(
    name       text NOT NULL,
    holder     uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT leases_pkey PRIMARY KEY (name)
);

CREATE TABLE migrations
(
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE retention
(
    only_row         boolean NOT NULL DEFAULT true,
    events_from      date NOT NULL DEFAULT '1970-01-01'::date,
    rolled_up_before date NOT NULL DEFAULT '1970-01-01'::date,
    rolled_up_at     timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT retention_pkey PRIMARY KEY (only_row),
    CONSTRAINT retention_check CHECK (rolled_up_before <= events_from),
    CONSTRAINT retention_events_from_check CHECK (EXTRACT(day FROM events_from) = 1::numeric),
    CONSTRAINT retention_only_row_check CHECK (only_row)
);

CREATE TABLE salts
(
    time_zone text NOT NULL,
    day       date NOT NULL,
    salt      bytea NOT NULL,
    CONSTRAINT salts_pkey PRIMARY KEY (time_zone, day),
    CONSTRAINT salts_salt_check CHECK (octet_length(salt) = 32)
);

CREATE TABLE sites
(
    id                 text NOT NULL,
    account_id         text NOT NULL,
    domain             text NOT NULL,
    time_zone          text NOT NULL DEFAULT 'UTC'::text,
    hostnames          text[] NOT NULL DEFAULT '{}'::text[],
    allow_subdomains   boolean NOT NULL DEFAULT false,
    excluded_countries text[] NOT NULL DEFAULT '{}'::text[],
    created_at         timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT sites_pkey PRIMARY KEY (id),
    CONSTRAINT sites_domain_key UNIQUE (domain),
    CONSTRAINT sites_id_check CHECK (id ~ '^site_[a-z2-7]{16}$'::text),
    CONSTRAINT sites_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX sites_account_id_idx ON sites USING btree (account_id);

CREATE TABLE api_keys
(
    id             text NOT NULL,
    account_id     text NOT NULL,
    site_id        text,
    name           text NOT NULL,
    prefix         text NOT NULL,
    hash           bytea NOT NULL,
    secret_version integer NOT NULL,
    disabled       boolean NOT NULL DEFAULT false,
    expires_at     timestamp with time zone,
    last_used_at   timestamp with time zone,
    created_at     timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_hash_key UNIQUE (hash),
    CONSTRAINT api_keys_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT api_keys_id_check CHECK (id ~ '^key_[a-z2-7]{16}$'::text),
    CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT api_keys_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX api_keys_account_id_idx ON api_keys USING btree (account_id);
CREATE INDEX api_keys_site_id_idx ON api_keys USING btree (site_id);

CREATE TABLE imports
(
    id           uuid NOT NULL,
    site_id      text NOT NULL,
    content      bytea NOT NULL,
    time_zone    text NOT NULL,
    salt         bytea,
    batches_done integer NOT NULL DEFAULT 0,
    started_at   timestamp with time zone NOT NULL DEFAULT now(),
    finished_at  timestamp with time zone,
    CONSTRAINT imports_pkey PRIMARY KEY (id),
    CONSTRAINT imports_site_id_content_key UNIQUE (site_id, content),
    CONSTRAINT imports_content_check CHECK (octet_length(content) = 32),
    CONSTRAINT imports_salt_check CHECK (octet_length(salt) = 32),
    CONSTRAINT imports_salt_until_end CHECK (salt IS NULL OR finished_at IS NULL),
    CONSTRAINT imports_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);

CREATE TABLE rollup_coverage
(
    site_id        text NOT NULL,
    version        integer NOT NULL,
    days           datemultirange NOT NULL DEFAULT '{}'::datemultirange,
    months         datemultirange NOT NULL DEFAULT '{}'::datemultirange,
    written_days   datemultirange NOT NULL DEFAULT '{}'::datemultirange,
    written_months datemultirange NOT NULL DEFAULT '{}'::datemultirange,
    changed_at     timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT rollup_coverage_pkey PRIMARY KEY (site_id, version),
    CONSTRAINT rollup_coverage_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);

CREATE TABLE rollup_runs
(
    id        bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    site_id   text NOT NULL,
    span      text NOT NULL,
    version   integer NOT NULL,
    writes    datemultirange NOT NULL,
    publishes datemultirange NOT NULL,
    state     text NOT NULL,
    alive_at  timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT rollup_runs_pkey PRIMARY KEY (id),
    CONSTRAINT rollup_runs_span_check CHECK (span = ANY (ARRAY['day'::text, 'month'::text])),
    CONSTRAINT rollup_runs_state_check CHECK (state = ANY (ARRAY['writing'::text, 'sweeping'::text, 'given up'::text, 'swept'::text])),
    CONSTRAINT rollup_runs_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX rollup_runs_site_id_idx ON rollup_runs USING btree (site_id);

CREATE TABLE rollup_state
(
    site_id            text NOT NULL,
    considered_through date,
    considered_at      timestamp with time zone,
    invalidations      integer NOT NULL DEFAULT 0,
    is_unfinished      boolean NOT NULL DEFAULT false,
    last_day_events    integer NOT NULL DEFAULT 0,
    CONSTRAINT rollup_state_pkey PRIMARY KEY (site_id),
    CONSTRAINT rollup_state_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);

CREATE TABLE today_coverage
(
    site_id   text NOT NULL,
    time_zone text NOT NULL,
    first_day date NOT NULL,
    last_day  date NOT NULL,
    version   bigint NOT NULL,
    as_of     timestamp with time zone NOT NULL,
    parts     jsonb NOT NULL DEFAULT '[]'::jsonb,
    CONSTRAINT today_coverage_pkey PRIMARY KEY (site_id),
    CONSTRAINT today_coverage_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);


INSERT INTO accounts OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::accounts, $rows$[
{"id": "acct_52443u5x23uveygq", "name": "A shop", "plan": "Growth", "created_at": "2026-11-15T22:01:38.60227+00:00"}
]$rows$);

INSERT INTO control_version OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::control_version, $rows$[
{"version": 19, "only_row": true}
]$rows$);

INSERT INTO deleted_sites OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::deleted_sites, $rows$[
{"id": "site_m467ijuxy7wkymub", "domain": "gone.example", "erased_at": null, "purged_at": null, "deleted_at": "2026-11-15T22:01:41.5277+00:00", "reopened_at": null, "rewritten_at": null, "waiting_since": null}
]$rows$);


INSERT INTO migrations OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::migrations, $rows$[
{"name": "clickhouse/0001_baseline.sql", "checksum": "b6f180ef96166946a75fbd306ab53d97b093fdd5e8f4237c1117716caf6fff24", "applied_at": "2026-11-15T22:01:38.07008+00:00"},
{"name": "postgres/0001_baseline.sql", "checksum": "59f6067dabc729e46eb540b12c28c843d91b51d4d28b173ba49c35e6ed965d56", "applied_at": "2026-11-15T22:01:37.90834+00:00"}
]$rows$);

INSERT INTO retention OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::retention, $rows$[
{"only_row": true, "events_from": "2024-06-01", "rolled_up_at": "2026-11-15T22:01:39.939666+00:00", "rolled_up_before": "2024-06-01"}
]$rows$);


INSERT INTO sites OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::sites, $rows$[
{"id": "site_xhv626w67yhnoixi", "domain": "shop.example", "hostnames": ["shop.example", "blog.shop.example"], "time_zone": "Europe/Berlin", "account_id": "acct_52443u5x23uveygq", "created_at": "2026-11-15T22:01:38.61243+00:00", "allow_subdomains": false, "excluded_countries": ["FR"]}
]$rows$);

INSERT INTO api_keys OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::api_keys, $rows$[
{"id": "key_y2yt43zy7ykkv2oh", "hash": "\\x07c109127e1128b2e18f9e69871da4d0dc93351c8ca674117589aa83954b41a2", "name": "Dashboard", "prefix": "ff_s_HcBg", "site_id": "site_xhv626w67yhnoixi", "disabled": false, "account_id": "acct_52443u5x23uveygq", "created_at": "2026-11-15T22:01:38.615946+00:00", "expires_at": null, "last_used_at": null, "secret_version": 1}
]$rows$);


INSERT INTO rollup_coverage OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::rollup_coverage, $rows$[
{"days": "{[2024-05-01,2024-06-01),[2026-10-01,2026-10-20),[2026-10-21,2026-11-10),[2026-11-11,2026-11-15)}", "months": "{[2024-05-01,2024-06-01)}", "site_id": "site_xhv626w67yhnoixi", "version": 1, "changed_at": "2026-11-15T22:01:41.461892+00:00", "written_days": "{[2024-05-01,2024-06-01),[2026-10-01,2026-11-15)}", "written_months": "{[2024-05-01,2024-06-01),[2026-10-01,2026-11-01)}"},
{"days": "{[2026-10-20,2026-10-21)}", "months": "{[2026-10-01,2026-11-01)}", "site_id": "site_xhv626w67yhnoixi", "version": 2, "changed_at": "2026-11-15T22:01:41.43019+00:00", "written_days": "{[2026-10-20,2026-10-21)}", "written_months": "{[2026-10-01,2026-11-01)}"}
]$rows$);


INSERT INTO rollup_state OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::rollup_state, $rows$[
{"site_id": "site_xhv626w67yhnoixi", "considered_at": "2026-11-15T22:01:40.902969+00:00", "invalidations": 2, "is_unfinished": false, "last_day_events": 0, "considered_through": "2026-11-09"}
]$rows$);


CREATE FUNCTION announce_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || COALESCE(NEW.id, OLD.id));
    RETURN NULL;
END
$function$;

CREATE FUNCTION announce_coverage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || NEW.site_id);
    RETURN NULL;
END
$function$;

CREATE FUNCTION announce_retention()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE control_version SET version = version + 1;
    RETURN NULL;
END
$function$;

CREATE FUNCTION begin_rollup_run(site text, what text, asked datemultirange)
 RETURNS TABLE(run bigint, chosen integer)
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION claim_leftovers(patience interval, most integer)
 RETURNS SETOF rollup_runs
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION day_ranges(ranges datemultirange)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT coalesce(jsonb_agg(jsonb_build_array(lower(range)::text, (upper(range) - 1)::text) ORDER BY range), '[]')
    FROM unnest(ranges) AS range
$function$;

CREATE FUNCTION forget_rollups(site text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM sites WHERE id = site FOR NO KEY UPDATE;
    UPDATE rollup_state SET considered_through = NULL, invalidations = invalidations + 1, last_day_events = 0
    WHERE site_id = site;
    UPDATE rollup_runs SET publishes = '{}' WHERE site_id = site;
    UPDATE rollup_coverage SET days = '{}', months = '{}' WHERE site_id = site AND (days <> '{}' OR months <> '{}');
    DELETE FROM today_coverage WHERE site_id = site;
END
$function$;

CREATE FUNCTION invalidate_days(site text, given datemultirange)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION note_coverage_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    NEW.changed_at := now();
    RETURN NEW;
END
$function$;

CREATE FUNCTION publish_rollup_run(run bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION release_run(run bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION remember_deleted_site()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    DELETE FROM deleted_sites WHERE id = OLD.id;
    INSERT INTO deleted_sites (id, domain) VALUES (OLD.id, OLD.domain);
    RETURN NULL;
END
$function$;

CREATE FUNCTION whole_months(ranges datemultirange)
 RETURNS datemultirange
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT coalesce(
        range_agg(daterange(
            date_trunc('month', lower(range))::date, (date_trunc('month', upper(range) - 1) + interval '1 month')::date)),
        '{}')
    FROM unnest(ranges) AS range
$function$;

CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE OF plan ON accounts FOR EACH ROW EXECUTE FUNCTION announce_change();
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE OF disabled, expires_at, hash, secret_version ON api_keys FOR EACH ROW EXECUTE FUNCTION announce_change();
CREATE TRIGGER announce AFTER INSERT OR UPDATE OF events_from ON retention FOR EACH ROW EXECUTE FUNCTION announce_retention();
CREATE TRIGGER announce AFTER UPDATE ON rollup_coverage FOR EACH ROW WHEN (old.days <> new.days OR old.months <> new.months) EXECUTE FUNCTION announce_coverage();
CREATE TRIGGER note_change BEFORE UPDATE ON rollup_coverage FOR EACH ROW WHEN (old.days <> new.days OR old.months <> new.months) EXECUTE FUNCTION note_coverage_change();
CREATE TRIGGER announce AFTER UPDATE ON rollup_state FOR EACH ROW WHEN (old.considered_through IS DISTINCT FROM new.considered_through OR old.invalidations <> new.invalidations) EXECUTE FUNCTION announce_coverage();
CREATE TRIGGER announce_first AFTER INSERT ON rollup_state FOR EACH ROW EXECUTE FUNCTION announce_coverage();
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE ON sites FOR EACH ROW EXECUTE FUNCTION announce_change();
CREATE TRIGGER remember_deleted AFTER DELETE ON sites FOR EACH ROW EXECUTE FUNCTION remember_deleted_site();
CREATE TRIGGER announce AFTER INSERT OR UPDATE ON today_coverage FOR EACH ROW EXECUTE FUNCTION announce_coverage();
