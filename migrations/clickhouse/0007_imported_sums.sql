-- Daily sums that another product has counted (decision D-244). They are no rollups: nothing writes them again, so nothing but the undoing of
-- their import and the erasure of their site removes them. A file is written under a version of its own; rows of a version that no import in
-- PostgreSQL names are of one that was stopped, and nobody reads them. A day may have several rows with the same value: they are added up.
CREATE TABLE IF NOT EXISTS imported_sums
(
    site_id   String,
    list      LowCardinality(String),
    version   UInt64,
    day       Date,
    value     String,
    import_id UInt64,
    visitors  Int64 CODEC(T64, ZSTD),
    pageviews Int64 CODEC(T64, ZSTD),
    sessions  Int64 CODEC(T64, ZSTD),
    bounces   Int64 CODEC(T64, ZSTD),
    duration  Int64 CODEC(T64, ZSTD),
    events    Int64 CODEC(T64, ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYear(day)
PRIMARY KEY (site_id, list, version, day)
ORDER BY (site_id, list, version, day, value)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1;
