-- The numbers that a segment's events have are its own: another attempt of the run may have had another segment there.
ALTER TABLE "journal" ALTER COLUMN "seq" TYPE BIGINT;
ALTER TABLE "journal" ADD COLUMN "place" BIGINT;
CREATE UNIQUE INDEX "journal_handle_place_key" ON "journal"("handle", "place");
