-- Shared links: dashboards for people without an account. docs/data-model.md says what the columns mean.

CREATE TABLE shared_links
(
    -- SHA-256 of the token in the address: a stolen table opens nothing.
    hash          bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    id            text NOT NULL UNIQUE CHECK (id ~ '^share_[a-z2-7]{16}$'),
    site_id       text NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    name          text NOT NULL,
    -- The email of a user.
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz,
    revoked_at    timestamptz,
    last_used_at  timestamptz,
    -- A PHC string of argon2id.
    password_hash text,
    -- Whether other sites may show it in a frame, and the widget may read it.
    embeddable    boolean NOT NULL,
    -- Filters that nobody who has the link can lift.
    country       text,
    device        text,
    hostname      text,
    utm_source    text,
    -- A password that is typed into a frame of another site could be typed into a copy of it.
    CHECK (NOT (embeddable AND password_hash IS NOT NULL))
);
CREATE INDEX ON shared_links (site_id);
