-- The tables that systems bring, by the name of what made them: each is made once, and never changes.
CREATE TABLE "system_tables" (
    "system" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "checksum" TEXT NOT NULL,
    "applied_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "system_tables_pkey" PRIMARY KEY ("system", "name")
);

-- How far a follower of events has come. What it does with an event and its new position are one transaction.
CREATE TABLE "system_cursors" (
    "system" TEXT NOT NULL,
    "follower" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "not_before" TIMESTAMPTZ(3),
    "failure" TEXT,

    CONSTRAINT "system_cursors_pkey" PRIMARY KEY ("system", "follower")
);
