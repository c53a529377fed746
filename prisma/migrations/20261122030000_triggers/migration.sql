-- The project an event belongs to; null: an event of everybody.
ALTER TABLE "published_events" ADD COLUMN "project" TEXT;

-- CreateTable
CREATE TABLE "triggers" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "event" TEXT NOT NULL,
    "definition_hash" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "persona" TEXT NOT NULL,
    "inputs" JSON NOT NULL,
    "task_queue" TEXT NOT NULL,
    "is_paused" BOOLEAN NOT NULL DEFAULT false,
    "after_seq" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "triggers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trigger_queue" (
    "seq" BIGINT NOT NULL,

    CONSTRAINT "trigger_queue_pkey" PRIMARY KEY ("seq")
);

-- CreateTable
CREATE TABLE "trigger_starts" (
    "trigger_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "handle" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "reason" TEXT,
    "depth" INTEGER NOT NULL DEFAULT 1,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "not_before" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "is_chosen" BOOLEAN NOT NULL DEFAULT false,
    "held_by" TEXT,

    CONSTRAINT "trigger_starts_pkey" PRIMARY KEY ("trigger_id","seq")
);

-- CreateIndex
CREATE UNIQUE INDEX "triggers_name_project_key" ON "triggers"("name", "project");

-- CreateIndex
CREATE INDEX "trigger_starts_handle_idx" ON "trigger_starts"("handle");

-- CreateIndex
CREATE INDEX "trigger_starts_held_by_idx" ON "trigger_starts"("held_by");

-- Only what is still to be started is looked for.
CREATE INDEX "trigger_starts_waiting_idx" ON "trigger_starts"("not_before", "seq") WHERE "state" = 'waiting';

-- An event is queued by the transaction that publishes it, whoever that is: so none is overlooked,
-- however late its transaction commits. Without triggers the queue stays empty.
CREATE FUNCTION "queue_for_triggers"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM "triggers") THEN
        INSERT INTO "trigger_queue" ("seq") VALUES (NEW."seq") ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER "published_events_queue" AFTER INSERT ON "published_events"
    FOR EACH ROW EXECUTE FUNCTION "queue_for_triggers"();
