-- Its place is taken by `tallies`, which is made from the events as it was.
DROP TABLE IF EXISTS folded
