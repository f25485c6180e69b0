-- Every event, append-only. Inserting events derives nothing.
-- The days of one site are one contiguous range. Partitions are months, so that retention can drop them. LowCardinality only where
-- all sites together have few values. An event takes 28 bytes; with LZ4, a batch id, the title and a UUID it took 55.
-- ClickHouse confirms an insert when it is on disk, because a collector forgets what ClickHouse has confirmed. Without fsync a power
-- cut left 753 of 1,181 confirmed inserts as empty parts. A merged part is on disk before its source parts are removed. Without that,
-- five of 50 power cuts lost up to 141,101 of 146,034 confirmed events.
CREATE TABLE IF NOT EXISTS events
(
    site_id    String,
    day        Date,
    time       DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    visitor_id UInt64 CODEC(Delta, ZSTD),
    session_id UInt64 CODEC(ZSTD),
    -- 64 bits of the event's UUID (traffic/recording.ts).
    event_id   UInt64 CODEC(NONE),
    name       String CODEC(ZSTD),
    hostname   String CODEC(ZSTD),
    pathname   String CODEC(ZSTD),
    referrer   String CODEC(ZSTD),
    channel    LowCardinality(String) CODEC(ZSTD),
    utm_source String CODEC(ZSTD),
    country    LowCardinality(String) CODEC(ZSTD),
    device     LowCardinality(String) CODEC(ZSTD),

    -- Windows that begin before the epoch are clamped to its first day, so that day must stay empty.
    CONSTRAINT after_the_epoch CHECK day > toDate('1970-01-01')
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (site_id, day, visitor_id, time)
SETTINGS non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- The latest title of a page by country, written together with the events. The country is needed because visitors from an excluded
-- country do not name a page (decision D-18). `max` of a tuple orders by time, then by event id as text, so the order of arrival does
-- not matter and writing a title again changes nothing.
CREATE TABLE IF NOT EXISTS titles
(
    site_id  String,
    pathname String,
    country  LowCardinality(String),
    latest   SimpleAggregateFunction(max, Tuple(time DateTime64(3, 'UTC'), event_id String, title String))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, pathname, country)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Closed days and months as exact integers (decisions D-71 to D-73), for every dimension except pages and referrers. Granules are
-- small, because most answers need a few hundred rows. There are two tables, because nine of ten rows are pages and referrers, and the
-- cost of a short list grows with the number of parts: 30 days of the total took 4.2 times SELECT 1 instead of 7 (decision D-82).
-- `rollup_key` repeats span, version, dimension, grouping set and host name as one text, the sort key (rollups/keys.ts).
CREATE TABLE IF NOT EXISTS short_rollups
(
    site_id      String,
    rollup_key   String,
    dimension    LowCardinality(String),
    grouping_set UInt8,
    hostname     String,
    utm_source   String,
    country      LowCardinality(String),
    device       LowCardinality(String),
    day          Date,
    value        String,
    views        Int64 CODEC(T64, LZ4),
    visitors     Int64 CODEC(T64, LZ4),
    sessions     Int64 CODEC(T64, LZ4),
    bounces      Int64 CODEC(T64, LZ4),
    duration     Int64 CODEC(T64, LZ4)
)
ENGINE = MergeTree
PARTITION BY toYear(day)
PRIMARY KEY (site_id, rollup_key, utm_source, device, country, day)
ORDER BY (site_id, rollup_key, utm_source, device, country, day, value)
SETTINGS index_granularity = 2048, merge_selector_base = 2,
    fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Pages and referrers, which have no sessions. ClickHouse merges this table less often than by default: some more parts do not slow
-- down an answer of thousands of rows, and merging is a fifth of the cost of rolling up. Values are most of the bytes: a month of 18
-- million rows takes 184 MB with LZ4 and 99 MB with ZSTD, which adds 12 ms to a list of 600,000 rows.
CREATE TABLE IF NOT EXISTS long_rollups
(
    site_id      String,
    rollup_key   String,
    dimension    LowCardinality(String),
    grouping_set UInt8,
    hostname     String,
    utm_source   String,
    country      LowCardinality(String),
    device       LowCardinality(String),
    day          Date CODEC(Delta, ZSTD),
    value        String CODEC(ZSTD),
    views        Int64 CODEC(T64, ZSTD),
    visitors     Int64 CODEC(T64, ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYear(day)
PRIMARY KEY (site_id, rollup_key, utm_source, device, country, day)
ORDER BY (site_id, rollup_key, utm_source, device, country, day, value)
SETTINGS index_granularity = 2048, merge_selector_base = 8,
    fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Days that are not over. Every 40 seconds a new version is written; it is deleted after half an hour (decision D-81). These rows have
-- their own table, so that they are never merged with rows that stay.
CREATE TABLE IF NOT EXISTS today_rollups
(
    site_id      String,
    rollup_key   String,
    dimension    LowCardinality(String),
    grouping_set UInt8,
    hostname     String,
    utm_source   String,
    country      LowCardinality(String),
    device       LowCardinality(String),
    day          Date,
    value        String,
    views        Int64,
    visitors     Int64,
    sessions     Int64,
    bounces      Int64,
    duration     Int64,
    written      DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toStartOfInterval(written, INTERVAL 10 MINUTE)
PRIMARY KEY (site_id, rollup_key, utm_source, device, country, day)
ORDER BY (site_id, rollup_key, utm_source, device, country, day, value)
TTL written + INTERVAL 30 MINUTE
SETTINGS index_granularity = 2048, ttl_only_drop_parts = 1, merge_with_ttl_timeout = 600;
