-- Every append writes its thread's row anew, so a row that has lost nothing carries no
-- place to go on from: null says that the chain begins with the empty tail. Rows from
-- before keep what they have; both are read alike.
ALTER TABLE threads
  ALTER COLUMN kept_after_sequence DROP NOT NULL,
  ALTER COLUMN kept_after_sequence DROP DEFAULT,
  ALTER COLUMN kept_after_digest DROP NOT NULL,
  ALTER COLUMN kept_after_digest DROP DEFAULT,
  ADD CONSTRAINT a_start_has_place_and_digest
    CHECK ((kept_after_sequence IS NULL) = (kept_after_digest IS NULL)) NOT VALID;
