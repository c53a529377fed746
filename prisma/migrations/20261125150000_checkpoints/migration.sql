-- States of a project before and after a step that may write to it. `before` and `after` are git trees in
-- `place`, a folder of the worker's host; what was too large to keep stands beside them with its size and time.
CREATE TABLE "checkpoints" (
    "handle" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "what" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "place" TEXT NOT NULL,
    "is_background" BOOLEAN NOT NULL,
    "before" TEXT,
    "large_before" JSON,
    "after" TEXT,
    "large_after" JSON,
    "skipped" TEXT,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "checkpoints_pkey" PRIMARY KEY ("handle", "key")
);

CREATE INDEX "checkpoints_taken_at_idx" ON "checkpoints"("taken_at");
