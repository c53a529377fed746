-- Between the two looks at the project lies the step's own work, and a command that writes named files writes no other:
-- what changed while steps of several runs were under way is told apart by that.
ALTER TABLE "checkpoints" ADD COLUMN "paths" JSON;
ALTER TABLE "checkpoints" ADD COLUMN "begun_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
ALTER TABLE "checkpoints" ALTER COLUMN "begun_at" DROP DEFAULT;
ALTER TABLE "checkpoints" ADD COLUMN "closed_at" TIMESTAMPTZ(3);
CREATE INDEX "checkpoints_place_taken_at_idx" ON "checkpoints"("place", "taken_at");
