-- Events of the last 24 hours that were not counted, by id, at most some thousand of a site (decision D-248). Nothing says who sent them.
-- It takes the place of dropped_hits, into which processes of the version before still write.
CREATE TABLE dropped_events
(
    site_id    text NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    event_id   uuid NOT NULL,
    dropped_at timestamptz NOT NULL,
    reason     text NOT NULL,
    -- Of the page, as a stranger may have sent it; empty unless the host is the reason.
    hostname   text NOT NULL CHECK (length(hostname) <= 253),
    PRIMARY KEY (site_id, event_id)
);
CREATE INDEX dropped_events_newest ON dropped_events (site_id, dropped_at);
CREATE INDEX dropped_events_by_age ON dropped_events (dropped_at);
