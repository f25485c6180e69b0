-- Texts that repeat, also in parts with thousands of sites (decision D-217): 5 of 26 bytes per event less, and reports read faster.
-- Each statement rewrites one column of existing rows in the background, and is a step that `footfall migrate` waits for.
ALTER TABLE events MODIFY COLUMN name LowCardinality(String) CODEC(ZSTD);

ALTER TABLE events MODIFY COLUMN hostname LowCardinality(String) CODEC(ZSTD);

ALTER TABLE events MODIFY COLUMN pathname LowCardinality(String) CODEC(ZSTD);

ALTER TABLE events MODIFY COLUMN referrer LowCardinality(String) CODEC(ZSTD);

ALTER TABLE events MODIFY COLUMN utm_source LowCardinality(String) CODEC(ZSTD);
