-- The ledger in PostgreSQL says which tallies are readable: what it says must be on disk. A day that lost rows would count too little
-- until `footfall fold verify` finds it.
ALTER TABLE tallies MODIFY SETTING
    fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1
