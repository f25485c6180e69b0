-- Pages and referrers, which have no sessions. Merged less often than by default: an answer of thousands of rows is not slower for some
-- more parts, and merging is a fifth of what folding costs.
CREATE OR REPLACE TABLE long_tallies
(
    site_id  String,
    place    String,
    day      Date,
    value    String,
    views    Int64 CODEC(T64, LZ4),
    visitors Int64 CODEC(T64, LZ4)
)
ENGINE = MergeTree
PARTITION BY toYear(day)
ORDER BY (site_id, place, day, value)
SETTINGS index_granularity = 2048, merge_selector_base = 8,
    fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1
AS SELECT site_id, place, day, value, views, visitors
FROM tallies
WHERE has(['page', 'referrer'], splitByChar(' ', place, 4)[3])
