-- Format 7: the runs of a sweep are known by their settings, not by the text of their specs.

-- Equal for runs of the same settings, see core/sweep/settings_key.h. NULL: not known yet, as of runs of earlier formats,
-- which get theirs when their sweep goes on; a run outside of a sweep has none.
ALTER TABLE run ADD COLUMN settings_key TEXT;
