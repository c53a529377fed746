-- Requests to models as they went out, and what came of each: what a cassette is made of. The messages of a
-- request are a chain, each link of which names the one before it by hash, so that the requests of a
-- conversation share what they have in common; texts stand in "messages". `asker` is the key under which the
-- request was made: what a later attempt under the same key asked takes the place of what an earlier one did.
CREATE TABLE "request_messages" (
    "hash" TEXT NOT NULL,
    "before" TEXT,
    "message" TEXT NOT NULL,

    CONSTRAINT "request_messages_pkey" PRIMARY KEY ("hash")
);

CREATE TABLE "model_requests" (
    "position" BIGSERIAL NOT NULL,
    "handle" TEXT NOT NULL,
    "conversation" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "asker" TEXT NOT NULL,
    "head" TEXT NOT NULL,
    "messages" TEXT,
    "outcome" JSON NOT NULL,

    CONSTRAINT "model_requests_pkey" PRIMARY KEY ("position")
);

CREATE INDEX "model_requests_place_idx" ON "model_requests"("handle", "conversation", "turn", "asker");

-- The run whose step started another one with sentinel/run, or the one that that was started by.
CREATE TABLE "run_roots" (
    "handle" TEXT NOT NULL,
    "root" TEXT NOT NULL,

    CONSTRAINT "run_roots_pkey" PRIMARY KEY ("handle")
);

CREATE INDEX "run_roots_root_idx" ON "run_roots"("root");

-- Runs whose models answer from a cassette, which stands in "payloads".
CREATE TABLE "replays" (
    "root" TEXT NOT NULL,
    "cassette" TEXT NOT NULL,

    CONSTRAINT "replays_pkey" PRIMARY KEY ("root")
);

-- Which request of a replay has which entry of its cassette: once given, it stays.
CREATE TABLE "replayed_requests" (
    "root" TEXT NOT NULL,
    "entry" INTEGER NOT NULL,
    "claimant" TEXT NOT NULL,

    CONSTRAINT "replayed_requests_pkey" PRIMARY KEY ("root", "entry")
);

CREATE UNIQUE INDEX "replayed_requests_claimant_idx" ON "replayed_requests"("root", "claimant");
