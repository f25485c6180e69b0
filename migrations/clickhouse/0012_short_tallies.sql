-- `tallies` in two tables: nine of ten rows are pages and referrers, and what a short list costs is the number of parts it is found in. Apart,
-- the short lists are so small that merging them to a few parts costs little: 30 days of the total took 4.2 times SELECT 1 instead of 7
-- (decision D-82). A place says what a row counts and under which version it is readable, as text (stats/places.ts): `day 1 channel 2
-- Mobile`. One column instead of eight, because planning takes longer with every condition: 7 days of the total took 7.7 times SELECT 1 by
-- eight columns and 3.1 times by place. Small granules: most answers are made of a few hundred rows.
-- Replaced as a whole, so that it may run again.
CREATE OR REPLACE TABLE short_tallies
(
    site_id  String,
    place    String,
    day      Date,
    value    String,
    views    Int64 CODEC(T64, LZ4),
    visitors Int64 CODEC(T64, LZ4),
    sessions Int64 CODEC(T64, LZ4),
    bounces  Int64 CODEC(T64, LZ4),
    duration Int64 CODEC(T64, LZ4)
)
ENGINE = MergeTree
PARTITION BY toYear(day)
ORDER BY (site_id, place, day, value)
SETTINGS index_granularity = 2048, merge_selector_base = 2,
    fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1
AS SELECT site_id, place, day, value, views, visitors, sessions, bounces, duration
FROM tallies
WHERE NOT has(['page', 'referrer'], splitByChar(' ', place, 4)[3])
