-- The event from outside of the chain that a start belongs to: all starts that come of it together are bounded.
ALTER TABLE "trigger_starts" ADD COLUMN "root" BIGINT;

UPDATE "trigger_starts" SET "root" = "seq";

ALTER TABLE "trigger_starts" ALTER COLUMN "root" SET NOT NULL;

-- CreateIndex
CREATE INDEX "trigger_starts_root_idx" ON "trigger_starts"("root");
