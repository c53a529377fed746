-- What a segment that acted on the world has journaled is kept: a run may be forked from there.
ALTER TABLE "journal" ADD COLUMN "lasts" BOOLEAN NOT NULL DEFAULT false;
