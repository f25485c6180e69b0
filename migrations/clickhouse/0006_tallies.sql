-- Closed days and months as exact integers, written once by folding/fold.ts and summed by stats/facts.ts (decisions D-71 to D-73).
-- `place` says what a row counts and under which version it is readable, as text (stats/places.ts): `day 1 page 2 Mobile`. One
-- column instead of eight, because what an answer of few rows costs is planning, and that follows the number of conditions: 7 days of
-- the total took 7.7 times SELECT 1 by eight columns and 3.1 times by place.
-- Small granules: most answers are made of a few hundred rows. LZ4: half the time of ZSTD to merge, and twice the bytes.
CREATE TABLE IF NOT EXISTS tallies
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
SETTINGS index_granularity = 2048
