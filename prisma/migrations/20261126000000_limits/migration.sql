-- Uses of what has a rate limit (`provider:anthropic`, `tool:code/git`), one row for each: from when it may begin, and
-- until when it is taken to be under way. A use that has to wait has its row, and so its place, already.
CREATE TABLE "permits" (
    "subject" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "under_way_until" TIMESTAMPTZ(3),

    CONSTRAINT "permits_pkey" PRIMARY KEY ("subject", "id")
);

CREATE INDEX "permits_subject_at_idx" ON "permits"("subject", "at" DESC);

-- What has failed several times in a row. Without a row nothing has; with `open_until` nothing is asked of it before
-- then, and after that one probe at a time.
CREATE TABLE "circuits" (
    "subject" TEXT NOT NULL,
    "failures" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "open_until" TIMESTAMPTZ(3),
    "probe_until" TIMESTAMPTZ(3),
    "finding" TEXT NOT NULL,

    CONSTRAINT "circuits_pkey" PRIMARY KEY ("subject")
);
