-- The last hit of a new site that was not counted, for the page that waits for its first event (decision D-231).
CREATE TABLE dropped_hits
(
    site_id    text PRIMARY KEY REFERENCES sites (id) ON DELETE CASCADE,
    dropped_at timestamptz NOT NULL,
    reason     text NOT NULL,
    -- Of the page, as a stranger may have sent it.
    hostname   text NOT NULL CHECK (length(hostname) <= 253)
);
