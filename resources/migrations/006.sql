-- Format 6: runs know the environment in which they were made and have tags, views of the window are kept, and all that
-- is stored has checksums.

ALTER TABLE run ADD COLUMN environment TEXT NOT NULL DEFAULT '{}'; -- JSON
ALTER TABLE run ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';        -- JSON: texts in ascending order, each once

-- Arrangements of runs that the user has saved under a name. The program that shows them knows what is in them.
CREATE TABLE view (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created TEXT NOT NULL,
  content TEXT NOT NULL, -- JSON
  checks BLOB
) STRICT;

-- A CRC-32 for each value of the row, see core/store/detail/row_checks.h. The rows of points (step_chunk, value_chunk,
-- tail) have one over their data; what else they hold must agree with it.
ALTER TABLE run ADD COLUMN checks BLOB;
ALTER TABLE event ADD COLUMN checks BLOB;
ALTER TABLE sweep ADD COLUMN checks BLOB;
ALTER TABLE search ADD COLUMN checks BLOB;
ALTER TABLE series ADD COLUMN checks BLOB;
ALTER TABLE command ADD COLUMN checks BLOB;
ALTER TABLE process ADD COLUMN checks BLOB;
ALTER TABLE identity ADD COLUMN checks BLOB;

-- A change of checksums follows a change of the row, which was counted.
DROP TRIGGER run_updated;
CREATE TRIGGER run_updated AFTER UPDATE ON run WHEN NEW.changed = OLD.changed AND NEW.checks IS OLD.checks BEGIN
  UPDATE run_changes SET changes = changes + 1;
  UPDATE run SET changed = (SELECT changes FROM run_changes) WHERE id = NEW.id;
END;
