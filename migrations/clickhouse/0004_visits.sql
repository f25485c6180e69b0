-- What visits tell, on every event: the other UTM tags of the session's first event, browser and system of the visitor, and what the
-- event itself carries. Empty in events that were recorded before (docs/data-model.md). Adding a column rewrites nothing.
ALTER TABLE events
    ADD COLUMN IF NOT EXISTS utm_medium LowCardinality(String) CODEC(ZSTD),
    ADD COLUMN IF NOT EXISTS utm_campaign LowCardinality(String) CODEC(ZSTD),
    ADD COLUMN IF NOT EXISTS utm_content LowCardinality(String) CODEC(ZSTD),
    ADD COLUMN IF NOT EXISTS utm_term LowCardinality(String) CODEC(ZSTD),
    ADD COLUMN IF NOT EXISTS browser LowCardinality(String) CODEC(ZSTD),
    ADD COLUMN IF NOT EXISTS os LowCardinality(String) CODEC(ZSTD),
    ADD COLUMN IF NOT EXISTS props Map(LowCardinality(String), LowCardinality(String)) CODEC(ZSTD),
    -- In the minor unit of its currency, never converted. Without a currency there is no revenue.
    ADD COLUMN IF NOT EXISTS revenue UInt64 CODEC(ZSTD),
    ADD COLUMN IF NOT EXISTS currency LowCardinality(String) CODEC(ZSTD),
    -- 64 bits of the id of its import; 0 for a live event.
    ADD COLUMN IF NOT EXISTS import_id UInt64 CODEC(ZSTD);
