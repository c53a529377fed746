-- Order of delivery: given to events once they are committed, so that a reader who has seen position
-- N never meets a smaller one later (the order of `seq` is that of writing, and commits overtake).
ALTER TABLE "published_events" ADD COLUMN "position" BIGINT;
-- Set once every run that waited for the event has been claimed for waking.
ALTER TABLE "published_events" ADD COLUMN "dispatched" BOOLEAN NOT NULL DEFAULT false;
UPDATE "published_events" SET "position" = "seq", "dispatched" = true;

-- CreateIndex
CREATE UNIQUE INDEX "published_events_position_key" ON "published_events"("position");
CREATE INDEX "published_events_unplaced_idx" ON "published_events"("seq") WHERE "position" IS NULL;
CREATE INDEX "published_events_undispatched_idx" ON "published_events"("position") WHERE NOT "dispatched";

-- One process at a time gives out positions; its lock is held until they are visible.
CREATE FUNCTION "place_events"() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM "published_events" WHERE "position" IS NULL) THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(72707370);
    UPDATE "published_events" AS e SET "position" = placed."position"
    FROM (
        SELECT "seq", (SELECT coalesce(max("position"), 0) FROM "published_events") + row_number() OVER (ORDER BY "seq") AS "position"
        FROM "published_events" WHERE "position" IS NULL
    ) AS placed
    WHERE e."seq" = placed."seq";
END
$$;

CREATE FUNCTION "latest_event_position"() RETURNS BIGINT LANGUAGE sql STABLE AS
    'SELECT coalesce(max("position"), 0) FROM "published_events"';

CREATE FUNCTION "latest_event_seq"() RETURNS BIGINT LANGUAGE sql STABLE AS
    'SELECT coalesce(max("seq"), 0) FROM "published_events"';

-- A run sees the events that were written after this one: those since it began.
ALTER TABLE "runs" ADD COLUMN "since_seq" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "runs" ALTER COLUMN "since_seq" SET DEFAULT "latest_event_seq"();

-- A run that waits for an event: `name` where the glob is one name, else `pattern`, a regular expression.
CREATE TABLE "event_subscriptions" (
    "handle" TEXT NOT NULL,
    "glob" TEXT NOT NULL,
    "name" TEXT,
    "pattern" TEXT,
    "after" BIGINT NOT NULL,
    "claimed_at" TIMESTAMPTZ(3),

    CONSTRAINT "event_subscriptions_pkey" PRIMARY KEY ("handle","glob")
);
CREATE INDEX "event_subscriptions_name_idx" ON "event_subscriptions"("name") WHERE "claimed_at" IS NULL AND "name" IS NOT NULL;
CREATE INDEX "event_subscriptions_pattern_idx" ON "event_subscriptions"("handle") WHERE "claimed_at" IS NULL AND "pattern" IS NOT NULL;
CREATE INDEX "event_subscriptions_claimed_idx" ON "event_subscriptions"("claimed_at") WHERE "claimed_at" IS NOT NULL;

-- A process that a step started and did not wait for. `attempt` counts its starts: only the worker
-- that made the latest one may write here.
CREATE TABLE "executions" (
    "id" TEXT NOT NULL,
    "handle" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request" JSON NOT NULL,
    "rules" JSON,
    "worker" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "pid" INTEGER,
    "exit_code" INTEGER,
    "signal" TEXT,
    "lines" INTEGER NOT NULL DEFAULT 0,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "executions_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "executions_handle_idx" ON "executions"("handle");
CREATE INDEX "executions_running_idx" ON "executions"("seen_at") WHERE "finished_at" IS NULL;

-- Lines of an execution in batches; `n` is the number of the first one.
CREATE TABLE "execution_lines" (
    "execution_id" TEXT NOT NULL,
    "n" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    "lines" JSON NOT NULL,

    CONSTRAINT "execution_lines_pkey" PRIMARY KEY ("execution_id","n")
);
