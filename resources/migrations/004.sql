-- Format 4: who shows the list of runs reads those that changed, not all of them.

-- One row: how often rows of run were changed so far, and how many were removed for good.
CREATE TABLE run_changes (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  changes INTEGER NOT NULL,
  removed INTEGER NOT NULL
) STRICT;
INSERT INTO run_changes (id, changes, removed) VALUES (1, 0, 0);

ALTER TABLE run ADD COLUMN changed INTEGER NOT NULL DEFAULT 0; -- run_changes.changes when the row was changed last
CREATE INDEX run_changed ON run (changed);

CREATE TRIGGER run_inserted AFTER INSERT ON run BEGIN
  UPDATE run_changes SET changes = changes + 1;
  UPDATE run SET changed = (SELECT changes FROM run_changes) WHERE id = NEW.id;
END;
CREATE TRIGGER run_updated AFTER UPDATE ON run WHEN NEW.changed = OLD.changed BEGIN
  UPDATE run_changes SET changes = changes + 1;
  UPDATE run SET changed = (SELECT changes FROM run_changes) WHERE id = NEW.id;
END;
CREATE TRIGGER run_removed AFTER DELETE ON run BEGIN
  UPDATE run_changes SET removed = removed + 1;
END;
