-- Format 1 of the run database. What a file holds is told by names in it, not by this program's lists: series are
-- rows, so records of other programs and metrics that the engine does not know need no new format.
--
-- Columns of type ANY are real numbers of a run; SQLite has no NaN, which is stored as the text 'NaN'. NULL: not known.

-- Processes that have this file open for writing. A row whose process is gone is an unclean exit.
CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  host TEXT NOT NULL,
  boot TEXT NOT NULL,       -- the kernel's id of this boot: a process from before it is gone
  pid INTEGER NOT NULL,
  started INTEGER NOT NULL  -- clock ticks after the boot, so that a reused pid is told from the first
) STRICT;

CREATE TABLE sweep (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created TEXT NOT NULL,
  spec TEXT NOT NULL
) STRICT;

CREATE TABLE search (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created TEXT NOT NULL,
  spec TEXT NOT NULL,
  result TEXT NOT NULL
) STRICT;

-- One row a run, with what it came to so far: a list of runs reads this table and nothing else.
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE, -- the same in every database that the run is copied to
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  process INTEGER REFERENCES process (id) ON DELETE SET NULL, -- who writes it; NULL once it is finished
  sweep INTEGER REFERENCES sweep (id),
  started TEXT NOT NULL,
  spec TEXT NOT NULL,
  start TEXT NOT NULL,
  batch INTEGER,
  steps INTEGER NOT NULL,
  examples_seen INTEGER NOT NULL,
  epoch ANY,
  train_coverage ANY,
  oom_events INTEGER NOT NULL,
  loss ANY,
  validation_loss ANY,
  validation_accuracy ANY,
  peak_bytes INTEGER NOT NULL,
  seconds ANY,
  examples_per_second ANY
) STRICT;
CREATE INDEX run_sweep ON run (sweep);
CREATE INDEX run_process ON run (process);

CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  seconds ANY,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX event_run ON event (run);

-- Series that have their values at the same steps, so that the steps are stored once.
CREATE TABLE frame (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX frame_run ON frame (run);

-- A series of a run with the summary of all its values. min and max leave NaN out and are NULL where there is nothing else.
CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  frame INTEGER NOT NULL REFERENCES frame (id) ON DELETE CASCADE,
  position INTEGER NOT NULL, -- of its value in a row of the tail
  n INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  last ANY,
  min ANY,
  max ANY,
  UNIQUE (run, name),
  UNIQUE (frame, position)
) STRICT;

-- Sealed points first .. first + n - 1 of a frame: its steps, and the values of each of its series.
CREATE TABLE step_chunk (
  id INTEGER PRIMARY KEY,
  frame INTEGER NOT NULL REFERENCES frame (id) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  n INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  crc INTEGER NOT NULL, -- CRC-32 of data
  data BLOB NOT NULL,   -- n little-endian 64-bit integers; empty where each step is the one before plus 1
  UNIQUE (frame, first)
) STRICT;

CREATE TABLE value_chunk (
  id INTEGER PRIMARY KEY,
  series INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  n INTEGER NOT NULL,
  min ANY,
  max ANY,
  crc INTEGER NOT NULL, -- CRC-32 of data
  data BLOB NOT NULL,   -- n little-endian doubles
  UNIQUE (series, first)
) STRICT;

-- The newest points of a frame, not sealed yet: one row a step.
CREATE TABLE tail (
  frame INTEGER NOT NULL REFERENCES frame (id) ON DELETE CASCADE,
  number INTEGER NOT NULL, -- of the point in the frame; the first is 0
  crc INTEGER NOT NULL,    -- CRC-32 of data
  data BLOB NOT NULL,      -- the step as a little-endian 64-bit integer, then a little-endian double for each series
  PRIMARY KEY (frame, number)
) STRICT, WITHOUT ROWID;
