-- Files of traffic from elsewhere, each imported once. The salt of its visitor ids lives until the import has ended; how far it came
-- is data, so that it can be stopped and started at will.
CREATE TABLE imports
(
    id           uuid PRIMARY KEY,
    site_id      text NOT NULL REFERENCES sites ON DELETE CASCADE,
    -- SHA-256 of the file: the same content is the same import, whatever the file is called.
    content      bytea NOT NULL CHECK (octet_length(content) = 32),
    -- Of the site when the import began: a change of zone must not move the days of what is left.
    time_zone    text NOT NULL,
    salt         bytea CHECK (octet_length(salt) = 32),
    batches_done integer NOT NULL DEFAULT 0,
    started_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    UNIQUE (site_id, content),
    CHECK ((salt IS NULL) = (finished_at IS NOT NULL))
);
