-- The truth: every hit, append-only. Nothing is derived on the insert path.
-- Ordered so that one site's days are one contiguous range; monthly partitions, so that retention is a drop.
-- LowCardinality only where the set of values is small over all sites together.
CREATE TABLE IF NOT EXISTS events
(
    site_id    String,
    day        Date,
    time       DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    visitor_id UInt64,
    session_id UInt64,
    event_id   UUID,
    batch_id   UUID,
    name       String,
    hostname   String,
    pathname   String,
    title      String,
    referrer   String,
    channel    LowCardinality(String),
    utm_source String,
    country    LowCardinality(String),
    device     LowCardinality(String),

    -- Windows that begin before the epoch are clamped to its first day, which therefore holds nothing.
    CONSTRAINT after_the_epoch CHECK day > toDate('1970-01-01')
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (site_id, day, visitor_id, time)
SETTINGS non_replicated_deduplication_window = 1000
