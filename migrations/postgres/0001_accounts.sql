-- Who may ask, and for what. Ids are random and opaque; deleting an account or a site deletes its keys with it.
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
    excluded_countries text[] NOT NULL DEFAULT '{}',
    created_at         timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX ON sites (account_id);

-- A key with a site reads that site; a key without one reads every site of its account.
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
