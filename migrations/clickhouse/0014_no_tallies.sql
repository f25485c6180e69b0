-- Its rows are in `short_tallies` and `long_tallies`.
DROP TABLE IF EXISTS tallies
