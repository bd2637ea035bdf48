-- Format 2: runs have a note and may be marked as deleted, and are steered by other processes.

ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN deleted TEXT; -- when, in UTC; NULL for a run that is not deleted

-- What is asked of the process that trains a run, in the order of id.
CREATE TABLE command (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  created TEXT NOT NULL,
  verb TEXT NOT NULL,
  detail TEXT NOT NULL, -- JSON
  taken INTEGER         -- NULL until the process that trains the run took it, 1 then
) STRICT;
CREATE INDEX command_run ON command (run, taken);
