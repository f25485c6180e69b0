-- A collector sends a batch again for as long as it takes, so a replicated table remembers for a week what it has. By default it is an hour.
ALTER TABLE events MODIFY SETTING replicated_deduplication_window = 1000000, replicated_deduplication_window_seconds = 604800;

ALTER TABLE titles MODIFY SETTING replicated_deduplication_window = 1000000, replicated_deduplication_window_seconds = 604800;
