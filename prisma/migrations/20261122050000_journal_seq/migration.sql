-- The first of the numbers that a segment's events may have: what history does not know of is beyond where the run stands.
ALTER TABLE "journal" ADD COLUMN "seq" INTEGER;
