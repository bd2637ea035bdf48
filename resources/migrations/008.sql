-- Format 8: how much of a run's time other work took.

-- Fraction of the training time in which threads of the training were ready but did not run, 0..1. NULL: not known, as of
-- runs of earlier formats.
ALTER TABLE run ADD COLUMN disturbed ANY;
