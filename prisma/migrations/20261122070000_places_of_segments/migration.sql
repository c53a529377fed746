-- The numbers that a segment's events have are its own: another attempt of the run may have had another segment there.
ALTER TABLE "journal" ALTER COLUMN "seq" TYPE BIGINT;
ALTER TABLE "journal" ADD COLUMN "place" BIGINT;
CREATE UNIQUE INDEX "journal_handle_place_key" ON "journal"("handle", "place");
-- Where the latest attempt to go on with the run began, and how long history was: an earlier one has nothing to say any more.
ALTER TABLE "runs" ADD COLUMN "attempt_from" BIGINT NOT NULL DEFAULT 0, ADD COLUMN "attempt_history" INTEGER NOT NULL DEFAULT 0;
