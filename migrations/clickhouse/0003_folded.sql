-- Closed days as exact integers, written once by folding/fold.ts and summed by stats/facts.ts (decisions D-71 to D-73).
-- `cell` says by which columns a row is narrowed (country 1, device 2, hostname 4, utm_source 8); the others are empty.
-- Ordered so that a question with filters is a contiguous range. A row counts only while its (version, day) is in the ledger
-- site_folds of PostgreSQL; rows are never changed. Compressed well: values repeat from cell to cell.
CREATE TABLE IF NOT EXISTS folded
(
    site_id    String CODEC(ZSTD),
    dimension  Enum8('total' = 1, 'page' = 2, 'referrer' = 3, 'channel' = 4, 'event' = 5),
    cell       UInt8,
    span       Enum8('day' = 1, 'month' = 2),
    hostname   String CODEC(ZSTD),
    utm_source String CODEC(ZSTD),
    country    LowCardinality(String),
    device     LowCardinality(String),
    day        Date CODEC(ZSTD),
    value      String CODEC(ZSTD),
    version    UInt32 CODEC(ZSTD),
    views      Int64 CODEC(T64, ZSTD),
    visitors   Int64 CODEC(T64, ZSTD),
    sessions   Int64 CODEC(T64, ZSTD),
    bounces    Int64 CODEC(T64, ZSTD),
    duration   Int64 CODEC(T64, ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYear(day)
ORDER BY (site_id, dimension, cell, span, hostname, utm_source, country, device, day, value)
