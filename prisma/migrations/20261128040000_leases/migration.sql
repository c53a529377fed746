-- Leases: so many places as who asks says, of runs (the groups of before, with one place each) and of steps of runs.
-- `project` is empty where the whole installation shares the lease.
CREATE TABLE "leases" (
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "capacity" INTEGER NOT NULL,

    CONSTRAINT "leases_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "leases_kind_project_name_key" ON "leases"("kind", "project", "name");

-- `key` is empty where the run itself has the place. A place of a step has an attempt that asks for it (`claim`), which
-- is taken to be alive `until` then; `busy_until`: an attempt before may still be at what it had the place for.
ALTER TABLE "group_places" RENAME TO "lease_places";
ALTER TABLE "lease_places" ADD COLUMN "lease_id" BIGINT,
    ADD COLUMN "key" TEXT NOT NULL DEFAULT '',
    ADD COLUMN "claim" TEXT,
    ADD COLUMN "until" TIMESTAMPTZ(3),
    ADD COLUMN "busy_until" TIMESTAMPTZ(3);

INSERT INTO "leases" ("kind", "project", "name", "capacity")
    SELECT DISTINCT 'group', "project", "name", 1 FROM "lease_places";
UPDATE "lease_places" p SET "lease_id" = l."id" FROM "leases" l WHERE l."project" = p."project" AND l."name" = p."name";

DROP INDEX "group_places_project_name_idx";
ALTER TABLE "lease_places" DROP COLUMN "project",
    DROP COLUMN "name",
    ALTER COLUMN "lease_id" SET NOT NULL,
    ALTER COLUMN "key" DROP DEFAULT,
    DROP CONSTRAINT "group_places_pkey",
    ADD CONSTRAINT "lease_places_pkey" PRIMARY KEY ("lease_id", "handle", "key");
ALTER SEQUENCE "group_places_nth_seq" RENAME TO "lease_places_nth_seq";

CREATE INDEX "lease_places_lease_id_since_nth_idx" ON "lease_places"("lease_id", "since", "nth");
CREATE INDEX "lease_places_handle_idx" ON "lease_places"("handle");
