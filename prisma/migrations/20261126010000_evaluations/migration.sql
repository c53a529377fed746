-- Evaluations: a definition over a list of inputs, with checks. `content` is the hash of what decides what is
-- run, so that one which was interrupted is told from one whose file has changed since; `result` is there once
-- it has ended.
CREATE TABLE "evaluations" (
    "position" BIGSERIAL NOT NULL,
    "id" TEXT NOT NULL,
    "file" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),
    "result" JSON,

    CONSTRAINT "evaluations_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "evaluations_file_idx" ON "evaluations"("file", "position");
