-- The schema of today, written by `npm run docs` from migrated databases: read it, do not edit it, nothing runs it. To change the
-- schema, add a migration beside this file. The migrations also say why a table is as it is; docs/data-model.md says what it means.

CREATE SEQUENCE replica_gap_marks;

CREATE SEQUENCE site_holds;

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

CREATE TABLE audit_log
(
    id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    at         timestamp with time zone NOT NULL DEFAULT now(),
    account_id text,
    actor      text NOT NULL,
    action     text NOT NULL,
    subject    text NOT NULL,
    details    text NOT NULL DEFAULT ''::text,
    address    text NOT NULL DEFAULT ''::text,
    new_key_id text,
    CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_account_id_id_idx ON audit_log USING btree (account_id, id DESC);
CREATE UNIQUE INDEX audit_log_new_key_id_idx ON audit_log USING btree (new_key_id) WHERE new_key_id IS NOT NULL;

CREATE TABLE collectors
(
    id      text NOT NULL,
    host    text NOT NULL,
    shards  smallint NOT NULL,
    holds   bigint[] NOT NULL DEFAULT '{}'::bigint[],
    seen_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT collectors_pkey PRIMARY KEY (id)
);

CREATE TABLE control_version
(
    only_row boolean NOT NULL DEFAULT true,
    version  bigint NOT NULL,
    CONSTRAINT control_version_pkey PRIMARY KEY (only_row),
    CONSTRAINT control_version_only_row_check CHECK (only_row)
);

CREATE TABLE leases
(
    name       text NOT NULL,
    holder     uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT leases_pkey PRIMARY KEY (name)
);

CREATE TABLE ledger
(
    only_row     boolean NOT NULL DEFAULT true,
    installation uuid NOT NULL DEFAULT gen_random_uuid(),
    epoch        integer NOT NULL DEFAULT 0,
    began_at     timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT ledger_pkey PRIMARY KEY (only_row),
    CONSTRAINT ledger_only_row_check CHECK (only_row)
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

CREATE TABLE shards
(
    number         smallint NOT NULL,
    free_share     real NOT NULL DEFAULT 1,
    mark           bigint NOT NULL DEFAULT 0,
    confirmed_mark bigint NOT NULL DEFAULT 0,
    swept_epoch    integer NOT NULL DEFAULT 0,
    first_mark     bigint NOT NULL DEFAULT 0,
    counted_in     text NOT NULL DEFAULT ''::text,
    compared_in    text NOT NULL DEFAULT ''::text,
    CONSTRAINT shards_pkey PRIMARY KEY (number),
    CONSTRAINT shards_number_check CHECK (number > 0)
);

CREATE TABLE alert_checks
(
    shard         smallint NOT NULL,
    checked_at    timestamp with time zone NOT NULL,
    watched_since timestamp with time zone NOT NULL,
    CONSTRAINT alert_checks_pkey PRIMARY KEY (shard),
    CONSTRAINT alert_checks_shard_fkey FOREIGN KEY (shard) REFERENCES shards(number)
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
    account_id    text,
    shard         smallint NOT NULL DEFAULT 1,
    erase_after   timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT deleted_sites_pkey PRIMARY KEY (id, shard),
    CONSTRAINT deleted_sites_shard_fkey FOREIGN KEY (shard) REFERENCES shards(number)
);

CREATE TABLE recount_shards
(
    shard       smallint NOT NULL,
    since       timestamp with time zone NOT NULL DEFAULT now(),
    due_at      timestamp with time zone NOT NULL DEFAULT now(),
    searched_at timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    visited_at  timestamp with time zone,
    days        bigint NOT NULL DEFAULT 0,
    empty_days  bigint NOT NULL DEFAULT 0,
    answers     bigint NOT NULL DEFAULT 0,
    differences bigint NOT NULL DEFAULT 0,
    CONSTRAINT recount_shards_pkey PRIMARY KEY (shard),
    CONSTRAINT recount_shards_shard_fkey FOREIGN KEY (shard) REFERENCES shards(number)
);

CREATE TABLE replica_gaps
(
    shard   smallint NOT NULL,
    replica smallint NOT NULL,
    mark    bigint NOT NULL,
    CONSTRAINT replica_gaps_pkey PRIMARY KEY (shard, replica),
    CONSTRAINT every_replica_has_every_rolled_up_day CHECK (false),
    CONSTRAINT replica_gaps_shard_fkey FOREIGN KEY (shard) REFERENCES shards(number)
);

CREATE TABLE site_moves
(
    site_id    text NOT NULL,
    from_shard smallint NOT NULL,
    to_shard   smallint NOT NULL,
    hold       bigint,
    moved_at   timestamp with time zone,
    changed_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT site_moves_pkey PRIMARY KEY (site_id),
    CONSTRAINT site_moves_from_shard_fkey FOREIGN KEY (from_shard) REFERENCES shards(number),
    CONSTRAINT site_moves_to_shard_fkey FOREIGN KEY (to_shard) REFERENCES shards(number)
);
CREATE INDEX site_moves_changed_at_idx ON site_moves USING btree (changed_at);
CREATE INDEX site_moves_site_id_idx ON site_moves USING btree (site_id) WHERE hold IS NOT NULL;

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
    shard              smallint NOT NULL DEFAULT 1,
    CONSTRAINT sites_pkey PRIMARY KEY (id),
    CONSTRAINT sites_domain_key UNIQUE (domain),
    CONSTRAINT sites_id_check CHECK (id ~ '^site_[a-z2-7]{16}$'::text),
    CONSTRAINT sites_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT sites_shard_fkey FOREIGN KEY (shard) REFERENCES shards(number)
);
CREATE INDEX sites_account_id_idx ON sites USING btree (account_id);
CREATE INDEX sites_shard_idx ON sites USING btree (shard);

CREATE TABLE alerts
(
    id          text NOT NULL,
    site_id     text NOT NULL,
    kind        text NOT NULL,
    threshold   integer NOT NULL,
    min_usual   integer,
    event       text,
    mail_to     text NOT NULL,
    to_webhooks boolean NOT NULL,
    quiet_from  smallint,
    quiet_until smallint,
    created_by  text NOT NULL,
    created_at  timestamp with time zone NOT NULL DEFAULT now(),
    version     integer NOT NULL DEFAULT 1,
    is_on       boolean NOT NULL DEFAULT false,
    is_told     boolean NOT NULL DEFAULT false,
    began_at    timestamp with time zone,
    over_at     timestamp with time zone,
    began_with  jsonb,
    over_with   jsonb,
    CONSTRAINT alerts_pkey PRIMARY KEY (id),
    CONSTRAINT alerts_event CHECK ((kind = 'missing'::text) = (event IS NOT NULL)),
    CONSTRAINT alerts_event_check CHECK (length(event) >= 1 AND length(event) <= 120),
    CONSTRAINT alerts_id_check CHECK (id ~ '^alert_[a-z2-7]{16}$'::text),
    CONSTRAINT alerts_kind_check CHECK (kind = ANY (ARRAY['many'::text, 'rise'::text, 'drop'::text, 'silence'::text, 'missing'::text])),
    CONSTRAINT alerts_mail_to_check CHECK (mail_to = ANY (ARRAY['owners'::text, 'members'::text, 'nobody'::text])),
    CONSTRAINT alerts_min_usual_check CHECK (min_usual > 0),
    CONSTRAINT alerts_quiet_from_check CHECK (quiet_from >= 0 AND quiet_from <= 23),
    CONSTRAINT alerts_quiet_hours CHECK ((quiet_from IS NULL) = (quiet_until IS NULL) AND quiet_from <> quiet_until),
    CONSTRAINT alerts_quiet_until_check CHECK (quiet_until >= 0 AND quiet_until <= 23),
    CONSTRAINT alerts_threshold_check CHECK (threshold > 0),
    CONSTRAINT alerts_usual CHECK ((kind = 'many'::text) = (min_usual IS NULL)),
    CONSTRAINT alerts_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX alerts_site_id ON alerts USING btree (site_id);

CREATE TABLE api_keys
(
    id               text NOT NULL,
    account_id       text NOT NULL,
    site_id          text,
    name             text NOT NULL,
    prefix           text NOT NULL,
    hash             bytea NOT NULL,
    secret_version   integer NOT NULL,
    disabled         boolean NOT NULL DEFAULT false,
    expires_at       timestamp with time zone,
    last_used_at     timestamp with time zone,
    created_at       timestamp with time zone NOT NULL DEFAULT now(),
    created_by       text NOT NULL DEFAULT 'command line'::text,
    rotated_from     text,
    announced_expiry timestamp with time zone,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_hash_key UNIQUE (hash),
    CONSTRAINT api_keys_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT api_keys_id_check CHECK (id ~ '^key_[a-z2-7]{16}$'::text),
    CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT api_keys_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX api_keys_account_id_idx ON api_keys USING btree (account_id);
CREATE INDEX api_keys_expires_at ON api_keys USING btree (expires_at);
CREATE INDEX api_keys_site_id_idx ON api_keys USING btree (site_id);

CREATE TABLE dropped_events
(
    site_id    text NOT NULL,
    event_id   uuid NOT NULL,
    dropped_at timestamp with time zone NOT NULL,
    reason     text NOT NULL,
    hostname   text NOT NULL,
    CONSTRAINT dropped_events_pkey PRIMARY KEY (site_id, event_id),
    CONSTRAINT dropped_events_hostname_check CHECK (length(hostname) <= 253),
    CONSTRAINT dropped_events_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX dropped_events_by_age ON dropped_events USING btree (dropped_at);
CREATE INDEX dropped_events_newest ON dropped_events USING btree (site_id, dropped_at);

CREATE TABLE dropped_hits
(
    site_id    text NOT NULL,
    dropped_at timestamp with time zone NOT NULL,
    reason     text NOT NULL,
    hostname   text NOT NULL,
    CONSTRAINT dropped_hits_pkey PRIMARY KEY (site_id),
    CONSTRAINT dropped_hits_hostname_check CHECK (length(hostname) <= 253),
    CONSTRAINT dropped_hits_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);

CREATE TABLE goals
(
    site_id        text NOT NULL,
    name           text NOT NULL,
    event          text,
    property_key   text,
    property_value text,
    path           text,
    created_at     timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT goals_pkey PRIMARY KEY (site_id, name),
    CONSTRAINT goals_event_check CHECK (length(event) >= 1 AND length(event) <= 120),
    CONSTRAINT goals_name_check CHECK (length(name) >= 1 AND length(name) <= 60),
    CONSTRAINT goals_one_condition CHECK ((event IS NULL) <> (path IS NULL)),
    CONSTRAINT goals_path_check CHECK (path ~ '^/'::text AND length(path) <= 500),
    CONSTRAINT goals_property_key_check CHECK (property_key ~ '^[A-Za-z0-9_.-]{1,60}$'::text),
    CONSTRAINT goals_property_of_event CHECK (property_key IS NULL OR event IS NOT NULL),
    CONSTRAINT goals_property_value_check CHECK (length(property_value) >= 1 AND length(property_value) <= 200),
    CONSTRAINT goals_whole_property CHECK ((property_key IS NULL) = (property_value IS NULL)),
    CONSTRAINT goals_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);

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
    kind         text NOT NULL DEFAULT ''::text,
    files        text[] NOT NULL DEFAULT '{}'::text[],
    hashes       text[] NOT NULL DEFAULT '{}'::text[],
    events       bigint,
    days         datemultirange,
    undoing_at   timestamp with time zone,
    undone_at    timestamp with time zone,
    CONSTRAINT imports_pkey PRIMARY KEY (id),
    CONSTRAINT imports_content_check CHECK (octet_length(content) = 32),
    CONSTRAINT imports_salt_check CHECK (octet_length(salt) = 32),
    CONSTRAINT imports_salt_until_end CHECK (salt IS NULL OR finished_at IS NULL),
    CONSTRAINT imports_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX imports_content ON imports USING btree (site_id, content) WHERE undone_at IS NULL;

CREATE TABLE imported_days
(
    site_id   text NOT NULL,
    import_id uuid NOT NULL,
    list      text NOT NULL,
    metrics   text[] NOT NULL,
    days      datemultirange NOT NULL,
    version   text NOT NULL,
    CONSTRAINT imported_days_pkey PRIMARY KEY (import_id, list),
    CONSTRAINT imported_days_import_id_fkey FOREIGN KEY (import_id) REFERENCES imports(id) ON DELETE CASCADE,
    CONSTRAINT imported_days_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX imported_days_of_site ON imported_days USING btree (site_id);

CREATE TABLE key_usage
(
    key_id   text NOT NULL,
    hour     timestamp with time zone NOT NULL,
    requests bigint NOT NULL,
    CONSTRAINT key_usage_pkey PRIMARY KEY (key_id, hour),
    CONSTRAINT key_usage_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE
);
CREATE INDEX key_usage_hour_idx ON key_usage USING btree (hour);

CREATE TABLE notes
(
    id         text NOT NULL,
    site_id    text NOT NULL,
    day        date NOT NULL,
    text       text NOT NULL,
    cause      text,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    import_id  uuid,
    CONSTRAINT notes_pkey PRIMARY KEY (id),
    CONSTRAINT notes_cause_check CHECK (cause = ANY (ARRAY['import'::text, 'time_zone'::text, 'exclusions'::text])),
    CONSTRAINT notes_id_check CHECK (id ~ '^note_[a-z2-7]{16}$'::text),
    CONSTRAINT notes_text_check CHECK (length(text) >= 1 AND length(text) <= 200),
    CONSTRAINT notes_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX notes_of_site ON notes USING btree (site_id, day);

CREATE TABLE recount_differences
(
    id          bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    site_id     text NOT NULL,
    day         date NOT NULL,
    question    jsonb NOT NULL,
    request     text NOT NULL,
    found_at    timestamp with time zone NOT NULL DEFAULT now(),
    looked_at   timestamp with time zone NOT NULL DEFAULT now(),
    differing   jsonb NOT NULL,
    recounted   text NOT NULL,
    answered    text NOT NULL,
    repaired_at timestamp with time zone,
    CONSTRAINT recount_differences_pkey PRIMARY KEY (id),
    CONSTRAINT recount_differences_answered_check CHECK (length(answered) <= 20000),
    CONSTRAINT recount_differences_recounted_check CHECK (length(recounted) <= 20000),
    CONSTRAINT recount_differences_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX recount_differences_of_site ON recount_differences USING btree (site_id, id);
CREATE INDEX recount_differences_open ON recount_differences USING btree (looked_at) WHERE repaired_at IS NULL;

CREATE TABLE recounts
(
    site_id     text NOT NULL,
    round       integer NOT NULL,
    visited     datemultirange NOT NULL DEFAULT '{}'::datemultirange,
    visited_at  timestamp with time zone,
    since       timestamp with time zone NOT NULL DEFAULT now(),
    answers     bigint NOT NULL DEFAULT 0,
    differences bigint NOT NULL DEFAULT 0,
    CONSTRAINT recounts_pkey PRIMARY KEY (site_id),
    CONSTRAINT recounts_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX recounts_next ON recounts USING btree (round, visited_at NULLS FIRST);

CREATE TABLE rollup_coverage
(
    site_id        text NOT NULL,
    version        integer NOT NULL,
    days           datemultirange NOT NULL DEFAULT '{}'::datemultirange,
    months         datemultirange NOT NULL DEFAULT '{}'::datemultirange,
    written_days   datemultirange NOT NULL DEFAULT '{}'::datemultirange,
    written_months datemultirange NOT NULL DEFAULT '{}'::datemultirange,
    changed_at     timestamp with time zone NOT NULL DEFAULT now(),
    layout         smallint NOT NULL DEFAULT 1,
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

CREATE TABLE segments
(
    site_id    text NOT NULL,
    name       text NOT NULL,
    filters    text[] NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT segments_pkey PRIMARY KEY (site_id, name),
    CONSTRAINT segments_filters_check CHECK (cardinality(filters) >= 1 AND cardinality(filters) <= 8),
    CONSTRAINT segments_name_check CHECK (length(name) >= 1 AND length(name) <= 60),
    CONSTRAINT segments_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);

CREATE TABLE shared_links
(
    hash           bytea NOT NULL,
    id             text NOT NULL,
    site_id        text NOT NULL,
    name           text NOT NULL,
    created_by     text NOT NULL,
    created_at     timestamp with time zone NOT NULL DEFAULT now(),
    expires_at     timestamp with time zone,
    revoked_at     timestamp with time zone,
    last_used_at   timestamp with time zone,
    password_hash  text,
    embeddable     boolean NOT NULL,
    country        text,
    device         text,
    hostname       text,
    utm_source     text,
    secret_version integer,
    filters        text[],
    shows_notes    boolean NOT NULL DEFAULT false,
    CONSTRAINT shared_links_pkey PRIMARY KEY (hash),
    CONSTRAINT shared_links_id_key UNIQUE (id),
    CONSTRAINT shared_links_check CHECK (NOT (embeddable AND password_hash IS NOT NULL)),
    CONSTRAINT shared_links_filters_check CHECK (cardinality(filters) <= 8),
    CONSTRAINT shared_links_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT shared_links_id_check CHECK (id ~ '^share_[a-z2-7]{16}$'::text),
    CONSTRAINT shared_links_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX shared_links_site_id_idx ON shared_links USING btree (site_id);

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

CREATE TABLE uploads
(
    id         uuid NOT NULL,
    site_id    text NOT NULL,
    files      text[] NOT NULL,
    state      text NOT NULL,
    progress   real NOT NULL DEFAULT 0,
    until      date,
    preview    jsonb,
    outcome    jsonb,
    fault      text,
    created_by text NOT NULL,
    address    text NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    seen_at    timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT uploads_pkey PRIMARY KEY (id),
    CONSTRAINT uploads_site_id_key UNIQUE (site_id),
    CONSTRAINT uploads_state_check CHECK (state = ANY (ARRAY['checking'::text, 'waiting'::text, 'confirmed'::text, 'importing'::text, 'imported'::text, 'failed'::text])),
    CONSTRAINT uploads_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);

CREATE TABLE users
(
    id            text NOT NULL,
    email         text NOT NULL,
    password_hash text,
    totp_secret   bytea,
    totp_step     bigint NOT NULL DEFAULT 0,
    created_at    timestamp with time zone NOT NULL DEFAULT now(),
    signed_in_at  timestamp with time zone,
    CONSTRAINT users_pkey PRIMARY KEY (id),
    CONSTRAINT users_email_key UNIQUE (email),
    CONSTRAINT users_email_check CHECK (email = lower(email)),
    CONSTRAINT users_id_check CHECK (id ~ '^user_[a-z2-7]{16}$'::text)
);

CREATE TABLE members
(
    account_id text NOT NULL,
    user_id    text NOT NULL,
    role       text NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT members_pkey PRIMARY KEY (account_id, user_id),
    CONSTRAINT members_role_check CHECK (role = ANY (ARRAY['owner'::text, 'viewer'::text])),
    CONSTRAINT members_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX members_user_id_idx ON members USING btree (user_id);

CREATE TABLE one_time_links
(
    hash       bytea NOT NULL,
    id         text NOT NULL,
    purpose    text NOT NULL,
    account_id text,
    role       text,
    email      text,
    user_id    text,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT one_time_links_pkey PRIMARY KEY (hash),
    CONSTRAINT one_time_links_id_key UNIQUE (id),
    CONSTRAINT one_time_links_check CHECK (
CASE purpose
    WHEN 'reset'::text THEN user_id IS NOT NULL
    WHEN 'invitation'::text THEN account_id IS NOT NULL AND role IS NOT NULL AND email IS NOT NULL
    ELSE true
END),
    CONSTRAINT one_time_links_email_check CHECK (email = lower(email)),
    CONSTRAINT one_time_links_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT one_time_links_id_check CHECK (id ~ '^link_[a-z2-7]{16}$'::text),
    CONSTRAINT one_time_links_purpose_check CHECK (purpose = ANY (ARRAY['setup'::text, 'invitation'::text, 'reset'::text, 'sign-in'::text])),
    CONSTRAINT one_time_links_role_check CHECK (role = ANY (ARRAY['owner'::text, 'viewer'::text])),
    CONSTRAINT one_time_links_sign_in_check CHECK (purpose <> 'sign-in'::text OR user_id IS NOT NULL),
    CONSTRAINT one_time_links_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT one_time_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE recovery_codes
(
    user_id text NOT NULL,
    hash    bytea NOT NULL,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, hash),
    CONSTRAINT recovery_codes_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE report_subscriptions
(
    id           text NOT NULL,
    account_id   text NOT NULL,
    site_id      text,
    email        text NOT NULL,
    user_id      text,
    every        text NOT NULL,
    hour         smallint NOT NULL,
    time_zone    text NOT NULL,
    next_period  date NOT NULL,
    look_at      timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    created_by   text NOT NULL,
    created_at   timestamp with time zone NOT NULL DEFAULT now(),
    filters      text[] NOT NULL DEFAULT '{}'::text[],
    CONSTRAINT report_subscriptions_pkey PRIMARY KEY (id),
    CONSTRAINT report_subscriptions_email_check CHECK (email = lower(email)),
    CONSTRAINT report_subscriptions_every_check CHECK (every = ANY (ARRAY['week'::text, 'month'::text])),
    CONSTRAINT report_subscriptions_filters CHECK (cardinality(filters) <= 8 AND (site_id IS NOT NULL OR filters = '{}'::text[])),
    CONSTRAINT report_subscriptions_hour_check CHECK (hour >= 0 AND hour <= 23),
    CONSTRAINT report_subscriptions_id_check CHECK (id ~ '^rep_[a-z2-7]{16}$'::text),
    CONSTRAINT report_subscriptions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT report_subscriptions_account_id_user_id_fkey FOREIGN KEY (account_id, user_id) REFERENCES members(account_id, user_id) ON DELETE CASCADE,
    CONSTRAINT report_subscriptions_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX report_subscriptions_look_at ON report_subscriptions USING btree (look_at) WHERE confirmed_at IS NOT NULL;
CREATE INDEX report_subscriptions_site_id ON report_subscriptions USING btree (site_id);
CREATE UNIQUE INDEX report_subscriptions_once ON report_subscriptions USING btree (account_id, email, every, COALESCE(site_id, ''::text), filters);

CREATE TABLE outbox
(
    id              text NOT NULL,
    kind            text NOT NULL,
    recipient       text NOT NULL,
    account_id      text,
    subscription_id text,
    period          date,
    content         bytea,
    state           text NOT NULL DEFAULT 'waiting'::text,
    queued_at       timestamp with time zone NOT NULL DEFAULT now(),
    due_at          timestamp with time zone NOT NULL DEFAULT now(),
    expires_at      timestamp with time zone,
    next_attempt_at timestamp with time zone NOT NULL DEFAULT now(),
    attempts        integer NOT NULL DEFAULT 0,
    failures        smallint NOT NULL DEFAULT 0,
    sender          uuid,
    claimed_until   timestamp with time zone,
    handed_over_at  timestamp with time zone,
    problem         text NOT NULL DEFAULT ''::text,
    changed_at      timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT outbox_pkey PRIMARY KEY (id),
    CONSTRAINT outbox_report_once UNIQUE (subscription_id, period),
    CONSTRAINT outbox_check CHECK ((kind = 'report'::text) = (subscription_id IS NOT NULL)),
    CONSTRAINT outbox_check1 CHECK ((kind = 'report'::text) = (period IS NOT NULL)),
    CONSTRAINT outbox_id_check CHECK (id ~ '^mail_[a-z2-7]{16}$'::text),
    CONSTRAINT outbox_recipient_check CHECK (recipient = lower(recipient)),
    CONSTRAINT outbox_state_check CHECK (state = ANY (ARRAY['waiting'::text, 'sending'::text, 'sent'::text, 'failed'::text, 'in doubt'::text])),
    CONSTRAINT outbox_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT outbox_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES report_subscriptions(id) ON DELETE CASCADE
);
CREATE INDEX outbox_account_id ON outbox USING btree (account_id, queued_at);
CREATE INDEX outbox_changed_at ON outbox USING btree (changed_at);
CREATE INDEX outbox_expires_at ON outbox USING btree (expires_at) WHERE content IS NOT NULL;
CREATE INDEX outbox_queued_at ON outbox USING btree (queued_at) WHERE state = 'waiting'::text;
CREATE INDEX outbox_recipient ON outbox USING btree (recipient, queued_at);
CREATE INDEX outbox_sending ON outbox USING btree (claimed_until) WHERE state = 'sending'::text;
CREATE INDEX outbox_waiting ON outbox USING btree (next_attempt_at) WHERE state = 'waiting'::text;

CREATE TABLE user_identities
(
    issuer     text NOT NULL,
    subject    text NOT NULL,
    user_id    text NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    email      text,
    CONSTRAINT user_identities_pkey PRIMARY KEY (issuer, subject),
    CONSTRAINT user_identities_user_id_issuer_key UNIQUE (user_id, issuer),
    CONSTRAINT user_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE user_sessions
(
    hash       bytea NOT NULL,
    id         text NOT NULL,
    user_id    text NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    seen_at    timestamp with time zone NOT NULL DEFAULT now(),
    address    text NOT NULL,
    browser    text NOT NULL,
    CONSTRAINT user_sessions_pkey PRIMARY KEY (hash),
    CONSTRAINT user_sessions_id_key UNIQUE (id),
    CONSTRAINT user_sessions_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT user_sessions_id_check CHECK (id ~ '^sess_[a-z2-7]{16}$'::text),
    CONSTRAINT user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_sessions_user_id_idx ON user_sessions USING btree (user_id);

CREATE TABLE webhooks
(
    id             text NOT NULL,
    site_id        text NOT NULL,
    url            text NOT NULL,
    secret         bytea NOT NULL,
    secret_version integer NOT NULL DEFAULT 1,
    created_by     text NOT NULL,
    created_at     timestamp with time zone NOT NULL DEFAULT now(),
    disabled_at    timestamp with time zone,
    CONSTRAINT webhooks_pkey PRIMARY KEY (id),
    CONSTRAINT webhooks_id_check CHECK (id ~ '^whk_[a-z2-7]{16}$'::text),
    CONSTRAINT webhooks_url_check CHECK (length(url) <= 2000),
    CONSTRAINT webhooks_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE
);
CREATE INDEX webhooks_site_id ON webhooks USING btree (site_id);

CREATE TABLE webhook_deliveries
(
    id              text NOT NULL,
    webhook_id      text NOT NULL,
    replay_of       text,
    type            text NOT NULL,
    body            text NOT NULL,
    state           text NOT NULL DEFAULT 'waiting'::text,
    next_attempt_at timestamp with time zone NOT NULL DEFAULT now(),
    attempts        integer NOT NULL DEFAULT 0,
    failures        smallint NOT NULL DEFAULT 0,
    sender          uuid,
    claimed_until   timestamp with time zone,
    handed_over_at  timestamp with time zone,
    http_status     smallint,
    duration_ms     integer,
    problem         text NOT NULL DEFAULT ''::text,
    created_at      timestamp with time zone NOT NULL DEFAULT now(),
    changed_at      timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_deliveries_id_check CHECK (id ~ '^whd_[a-z2-7]{16}$'::text),
    CONSTRAINT webhook_deliveries_state_check CHECK (state = ANY (ARRAY['waiting'::text, 'sending'::text, 'delivered'::text, 'failed'::text, 'in doubt'::text])),
    CONSTRAINT webhook_deliveries_type_check CHECK (type ~ '^[a-z_.]{1,60}$'::text),
    CONSTRAINT webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_created_at ON webhook_deliveries USING btree (created_at);
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries USING btree (webhook_id, created_at);
CREATE INDEX webhook_deliveries_sending ON webhook_deliveries USING btree (claimed_until) WHERE state = 'sending'::text;
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries USING btree (next_attempt_at) WHERE state = 'waiting'::text;
CREATE INDEX webhook_deliveries_waiting_since ON webhook_deliveries USING btree (created_at) WHERE state = 'waiting'::text;

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
    PERFORM pg_notify('footfall_changes', new_version || ' ' || NEW.site_id || ' rollups');
    RETURN NULL;
END
$function$;

CREATE FUNCTION announce_goal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || COALESCE(NEW.site_id, OLD.site_id));
    RETURN NULL;
END
$function$;

CREATE FUNCTION announce_imported_days()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || COALESCE(NEW.site_id, OLD.site_id) || ' rollups');
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

CREATE FUNCTION begin_epoch(known integer, next integer, retained_from date, kept jsonb, copies jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION begin_rollup_run(site text, on_shard smallint, what text, asked datemultirange)
 RETURNS TABLE(run bigint, chosen integer)
 LANGUAGE plpgsql
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM begin_rollup_run(site, on_shard, what, asked, 1::smallint);
END
$function$;

CREATE FUNCTION begin_rollup_run(site text, on_shard smallint, what text, asked datemultirange, of_layout smallint)
 RETURNS TABLE(run bigint, chosen integer)
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION begin_rollup_runs(asked text[], on_shard smallint, days datemultirange)
 RETURNS TABLE(site text, run bigint, chosen integer)
 LANGUAGE plpgsql
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM begin_rollup_runs(asked, on_shard, days, 1::smallint);
END
$function$;

CREATE FUNCTION begin_rollup_runs(asked text[], on_shard smallint, days datemultirange, of_layout smallint)
 RETURNS TABLE(site text, run bigint, chosen integer)
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM sites WHERE id = ANY (asked) ORDER BY id FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT one.id, begun.run, begun.chosen
    FROM unnest(asked) AS one (id), LATERAL begin_rollup_run(one.id, on_shard, 'day', days, of_layout) AS begun;
END
$function$;

CREATE FUNCTION begin_site_move(site text, target smallint)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
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
    ELSIF EXISTS (SELECT FROM deleted_sites WHERE id = site AND shard = target
            AND (erased_at IS NULL OR erased_at > now() - interval '2 minutes')) THEN
        RETURN 'old copy';
    END IF;
    -- What is left of an earlier copy is masked, and must not be mistaken for the new one.
    DELETE FROM deleted_sites WHERE id = site AND shard = target;
    INSERT INTO site_moves (site_id, from_shard, to_shard) VALUES (site, source, target)
    ON CONFLICT (site_id) DO UPDATE
    SET from_shard = source, to_shard = target, hold = NULL, moved_at = NULL, changed_at = now();
    RETURN NULL;
END
$function$;

CREATE FUNCTION cancel_site_move(site text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION change_shard(site text, held bigint, erase_old_after timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
    RETURN change_shard(site, held, erase_old_after, 1::smallint);
END
$function$;

CREATE FUNCTION change_shard(site text, held bigint, erase_old_after timestamp with time zone, of_layout smallint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION choose_shard()
 RETURNS smallint
 LANGUAGE sql
AS $function$
    SELECT number FROM shards
    ORDER BY round(free_share * 20) DESC, random()
    LIMIT 1
$function$;

CREATE FUNCTION claim_leftovers(on_shard smallint, patience interval, most integer)
 RETURNS SETOF rollup_runs
 LANGUAGE plpgsql
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM claim_leftovers(on_shard, patience, most, 1::smallint);
END
$function$;

CREATE FUNCTION claim_leftovers(on_shard smallint, patience interval, most integer, of_layout smallint)
 RETURNS SETOF rollup_runs
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION consider_sites(asked text[], through date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM sites WHERE id = ANY (asked) ORDER BY id FOR NO KEY UPDATE;
    INSERT INTO rollup_state AS known (site_id, considered_through, considered_at, is_unfinished)
    SELECT id, through, now(), true FROM sites WHERE id = ANY (asked)
    ON CONFLICT (site_id) DO UPDATE
    SET considered_through = excluded.considered_through, considered_at = now(), is_unfinished = true,
        invalidations = known.invalidations + CASE WHEN excluded.considered_through < known.considered_through THEN 1 ELSE 0 END;
END
$function$;

CREATE FUNCTION count_change(on_shards smallint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE shards
    SET mark = mark + 1, first_mark = CASE counted_in WHEN this_start() THEN first_mark ELSE mark END, counted_in = this_start()
    WHERE number = ANY (on_shards) AND xmin <> pg_current_xact_id()::xid;
END
$function$;

CREATE FUNCTION count_coverage_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM count_change(ARRAY(SELECT DISTINCT shard FROM sites JOIN changed ON id = site_id));
    RETURN NULL;
END
$function$;

CREATE FUNCTION count_retention_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM count_change(ARRAY(SELECT number FROM shards ORDER BY number));
    RETURN NULL;
END
$function$;

CREATE FUNCTION count_site_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM count_change(CASE TG_OP WHEN 'DELETE' THEN ARRAY[OLD.shard] ELSE ARRAY[OLD.shard, NEW.shard] END);
    RETURN NULL;
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

CREATE FUNCTION finish_sites(given jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM sites WHERE id IN (SELECT one ->> 'id' FROM jsonb_array_elements(given) AS one) ORDER BY id FOR NO KEY UPDATE;
    UPDATE rollup_state SET is_unfinished = false, last_day_events = coalesce(one.events, last_day_events)
    FROM jsonb_to_recordset(given) AS one (id text, events integer)
    WHERE site_id = one.id;
END
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

CREATE FUNCTION hold_site(site text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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

CREATE FUNCTION limit_goals()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM sites WHERE id = NEW.site_id FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM goals WHERE site_id = NEW.site_id) >= 100 THEN
        RAISE EXCEPTION 'A site has at most 100 goals.' USING ERRCODE = 'check_violation', CONSTRAINT = 'goals_at_most_100';
    END IF;
    RETURN NEW;
END
$function$;

CREATE FUNCTION limit_notes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM sites WHERE id = NEW.site_id FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM notes WHERE site_id = NEW.site_id AND cause IS NULL) >= 500 THEN
        RAISE EXCEPTION 'A site has at most 500 notes.' USING ERRCODE = 'check_violation', CONSTRAINT = 'notes_at_most_500';
    END IF;
    RETURN NEW;
END
$function$;

CREATE FUNCTION limit_segments()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM sites WHERE id = NEW.site_id FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM segments WHERE site_id = NEW.site_id) >= 100 THEN
        RAISE EXCEPTION 'A site has at most 100 segments.' USING ERRCODE = 'check_violation', CONSTRAINT = 'segments_at_most_100';
    END IF;
    RETURN NEW;
END
$function$;

CREATE FUNCTION look_at_reports_again()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    changed sites := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    UPDATE report_subscriptions SET look_at = now()
    WHERE account_id = changed.account_id AND (site_id IS NULL OR site_id = changed.id);
    RETURN NULL;
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

CREATE FUNCTION publish_rollup_runs(asked bigint[])
 RETURNS TABLE(run bigint, published boolean)
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM sites WHERE id IN (SELECT site_id FROM rollup_runs WHERE rollup_runs.id = ANY (asked)) ORDER BY id FOR NO KEY UPDATE;
    RETURN QUERY SELECT one.id, publish_rollup_run(one.id) FROM unnest(asked) AS one (id);
END
$function$;

CREATE FUNCTION record_copy_to_erase(site sites, on_shard smallint, after timestamp with time zone)
 RETURNS void
 LANGUAGE sql
AS $function$
    DELETE FROM deleted_sites WHERE id = site.id AND shard = on_shard;
    INSERT INTO deleted_sites (id, domain, account_id, shard, erase_after)
    VALUES (site.id, site.domain, site.account_id, on_shard, after)
$function$;

CREATE FUNCTION refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'audit_log only grows' USING ERRCODE = 'insufficient_privilege';
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
$function$;

CREATE FUNCTION report_collector(given_id text, given_host text, known_shards smallint, confirmed bigint[], since timestamp with time zone)
 RETURNS TABLE(site_id text, shard smallint, hold bigint, as_of timestamp with time zone)
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE FUNCTION this_start()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
    SELECT oid || ' ' || 'shards'::regclass::oid || ' ' || extract(epoch FROM pg_postmaster_start_time())
    FROM pg_database WHERE datname = current_database()
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
CREATE TRIGGER only_grows BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE ON goals FOR EACH ROW EXECUTE FUNCTION announce_goal();
CREATE TRIGGER limit_goals BEFORE INSERT ON goals FOR EACH ROW EXECUTE FUNCTION limit_goals();
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE ON imported_days FOR EACH ROW EXECUTE FUNCTION announce_imported_days();
CREATE TRIGGER limit_notes BEFORE INSERT ON notes FOR EACH ROW WHEN (new.cause IS NULL) EXECUTE FUNCTION limit_notes();
CREATE TRIGGER announce AFTER INSERT OR UPDATE OF events_from ON retention FOR EACH ROW EXECUTE FUNCTION announce_retention();
CREATE TRIGGER count_change AFTER UPDATE ON retention FOR EACH ROW EXECUTE FUNCTION count_retention_change();
CREATE TRIGGER announce AFTER UPDATE ON rollup_coverage FOR EACH ROW WHEN (old.days <> new.days OR old.months <> new.months) EXECUTE FUNCTION announce_coverage();
CREATE TRIGGER count_insert AFTER INSERT ON rollup_coverage REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_coverage_change();
CREATE TRIGGER count_update AFTER UPDATE ON rollup_coverage REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_coverage_change();
CREATE TRIGGER note_change BEFORE UPDATE ON rollup_coverage FOR EACH ROW WHEN (old.days <> new.days OR old.months <> new.months) EXECUTE FUNCTION note_coverage_change();
CREATE TRIGGER announce AFTER UPDATE ON rollup_state FOR EACH ROW WHEN (old.considered_through IS DISTINCT FROM new.considered_through OR old.invalidations <> new.invalidations) EXECUTE FUNCTION announce_coverage();
CREATE TRIGGER announce_first AFTER INSERT ON rollup_state FOR EACH ROW EXECUTE FUNCTION announce_coverage();
CREATE TRIGGER limit_segments BEFORE INSERT ON segments FOR EACH ROW EXECUTE FUNCTION limit_segments();
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE ON sites FOR EACH ROW EXECUTE FUNCTION announce_change();
CREATE TRIGGER count_delete AFTER DELETE ON sites FOR EACH ROW EXECUTE FUNCTION count_site_change();
CREATE TRIGGER count_move AFTER UPDATE OF shard ON sites FOR EACH ROW WHEN (old.shard <> new.shard) EXECUTE FUNCTION count_site_change();
CREATE TRIGGER look_at_reports_again AFTER INSERT OR DELETE OR UPDATE OF time_zone ON sites FOR EACH ROW EXECUTE FUNCTION look_at_reports_again();
CREATE TRIGGER remember_deleted AFTER DELETE ON sites FOR EACH ROW EXECUTE FUNCTION remember_deleted_site();
CREATE TRIGGER announce AFTER INSERT OR UPDATE ON today_coverage FOR EACH ROW EXECUTE FUNCTION announce_coverage();
