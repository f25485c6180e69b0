-- Like `tallies`, of days that are not over: written every minute under a new version, gone after half an hour. A table of its own,
-- so that what is soon of no use is never merged with what stays.
CREATE TABLE IF NOT EXISTS open_tallies
(
    site_id  String,
    place    String,
    day      Date,
    value    String,
    views    Int64,
    visitors Int64,
    sessions Int64,
    bounces  Int64,
    duration Int64,
    written  DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toStartOfInterval(written, INTERVAL 10 MINUTE)
ORDER BY (site_id, place, day, value)
TTL written + INTERVAL 30 MINUTE
SETTINGS index_granularity = 2048, ttl_only_drop_parts = 1, merge_with_ttl_timeout = 600
