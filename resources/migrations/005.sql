-- Format 5: the runs of a sweep wait in the database, and several programs may work at it.

ALTER TABLE run ADD COLUMN position ANY;                              -- order of waiting runs; NULL: that of id
ALTER TABLE run ADD COLUMN reserved_bytes INTEGER NOT NULL DEFAULT 0; -- memory that others leave to an open run
ALTER TABLE run ADD COLUMN workers INTEGER NOT NULL DEFAULT 1;        -- most runs of its sweep at one time, this included
