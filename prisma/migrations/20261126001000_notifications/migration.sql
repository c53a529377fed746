-- Events that somebody may want to be told of, written with the event itself; a worker that has addresses makes a
-- message for each of them, and the row goes.
CREATE TABLE "notices" (
    "handle" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "notices_pkey" PRIMARY KEY ("handle", "seq")
);

CREATE INDEX "notices_at_idx" ON "notices"("at");

-- Messages to addresses: `due` until the address has taken it, `sent`, or `given-up`.
CREATE TABLE "deliveries" (
    "id" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "handle" TEXT NOT NULL,
    "event" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'due',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "made_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
    "next_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
    "finding" TEXT,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "deliveries_state_next_at_idx" ON "deliveries"("state", "next_at");
