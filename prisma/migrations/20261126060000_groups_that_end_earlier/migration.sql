-- Whether a run ends those of its group that were started before it, also one that asks for its place later.
ALTER TABLE "group_places" ADD COLUMN "ends_earlier" BOOLEAN NOT NULL DEFAULT false;
