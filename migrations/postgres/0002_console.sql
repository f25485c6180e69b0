-- The console: the people who sign in, what they may do, and what they did. docs/data-model.md says what the tables mean.

CREATE TABLE users
(
    id            text PRIMARY KEY CHECK (id ~ '^user_[a-z2-7]{16}$'),
    -- In lower case: people type their address in any case.
    email         text NOT NULL UNIQUE CHECK (email = lower(email)),
    -- A PHC string of argon2id.
    password_hash text NOT NULL,
    -- Encrypted with a key derived from KEY_SECRETS: a stolen backup must not hand out second factors.
    totp_secret   bytea,
    -- The 30-second step of the last accepted code; a code of this step or an earlier one is refused.
    totp_step     bigint NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL DEFAULT now(),
    signed_in_at  timestamptz
);

CREATE TABLE recovery_codes
(
    user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash    bytea NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (user_id, hash)
);

CREATE TABLE members
(
    account_id text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    user_id    text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role       text NOT NULL CHECK (role IN ('owner', 'viewer')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, user_id)
);
CREATE INDEX ON members (user_id);

CREATE TABLE user_sessions
(
    -- SHA-256 of the cookie's value: a stolen table signs nobody in.
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    id         text NOT NULL UNIQUE CHECK (id ~ '^sess_[a-z2-7]{16}$'),
    user_id    text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    -- Shown in the list of sessions: a truncated address and the name of the browser.
    address    text NOT NULL,
    browser    text NOT NULL
);
CREATE INDEX ON user_sessions (user_id);

-- Links that work once: to set up the first owner, to accept an invitation, to set a new password. Who sets up owns the first account,
-- unless the link names one.
CREATE TABLE one_time_links
(
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    id         text NOT NULL UNIQUE CHECK (id ~ '^link_[a-z2-7]{16}$'),
    purpose    text NOT NULL CHECK (purpose IN ('setup', 'invitation', 'reset')),
    account_id text REFERENCES accounts (id) ON DELETE CASCADE,
    role       text CHECK (role IN ('owner', 'viewer')),
    email      text CHECK (email = lower(email)),
    user_id    text REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    CHECK (CASE purpose
        WHEN 'reset' THEN user_id IS NOT NULL
        WHEN 'invitation' THEN account_id IS NOT NULL AND role IS NOT NULL AND email IS NOT NULL
        ELSE TRUE END)
);

-- Names are copied, not referenced: the log outlives accounts, sites and people.
CREATE TABLE audit_log
(
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT now(),
    account_id text,
    -- The email of a user, or 'command line'.
    actor      text NOT NULL,
    action     text NOT NULL,
    -- What it was done to: a domain, the name of a key, an email.
    subject    text NOT NULL,
    details    text NOT NULL DEFAULT '',
    -- Truncated; empty for the command line.
    address    text NOT NULL DEFAULT ''
);
CREATE INDEX ON audit_log (account_id, id DESC);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit_log only grows' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE api_keys
    ADD COLUMN created_by text NOT NULL DEFAULT 'command line',
    -- The key that this one replaced; that key may be deleted by now.
    ADD COLUMN rotated_from text;

-- Requests by hour, for the page of keys. Hours older than a few days are deleted.
CREATE TABLE key_usage
(
    key_id   text NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    hour     timestamptz NOT NULL,
    requests bigint NOT NULL,
    PRIMARY KEY (key_id, hour)
);
CREATE INDEX ON key_usage (hour);

-- Whose site it was: owners see the progress of their own deletions. Null for sites that were deleted before.
ALTER TABLE deleted_sites ADD COLUMN account_id text;

CREATE OR REPLACE FUNCTION remember_deleted_site() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    DELETE FROM deleted_sites WHERE id = OLD.id;
    INSERT INTO deleted_sites (id, domain, account_id) VALUES (OLD.id, OLD.domain, OLD.account_id);
    RETURN NULL;
END
$$;
