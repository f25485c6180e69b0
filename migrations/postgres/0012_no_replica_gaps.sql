-- A rolled-up day becomes readable only when every replica has its rows (decision D-207). Readers no longer look at replica_gaps, so it must be
-- empty, and processes of the previous version must not add to it: their day then stays unreadable, and is read from events.
LOCK TABLE replica_gaps IN ACCESS EXCLUSIVE MODE;

DO
$$
BEGIN
    IF EXISTS (SELECT FROM replica_gaps) THEN
        RAISE EXCEPTION 'A replica misses rows of rolled-up days. Let the previous version run until every replica is back and replica_gaps is empty, then migrate again. If the replica is gone for good, delete its row there.';
    END IF;
END
$$;

ALTER TABLE replica_gaps ADD CONSTRAINT every_replica_has_every_rolled_up_day CHECK (false);
