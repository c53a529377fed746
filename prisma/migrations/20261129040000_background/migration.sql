-- What a system does again and again: when next, and how it stands. `run` is that of a command that takes long.
CREATE TABLE "system_background" (
    "system" TEXT NOT NULL,
    "task" TEXT NOT NULL,
    "number" INTEGER NOT NULL DEFAULT 0,
    "next_at" TIMESTAMPTZ(3) NOT NULL,
    "run" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failure" TEXT,

    CONSTRAINT "system_background_pkey" PRIMARY KEY ("system", "task")
);
