-- What the runs of a persona may use in a day of its time zone, and what they have used. `spending` has the persona, so
-- that a sum over its day reads only its own rows.
ALTER TABLE "limits_of_personas"
    ADD COLUMN "usd_a_day" DOUBLE PRECISION,
    ADD COLUMN "tokens_a_day" BIGINT,
    ADD COLUMN "steps_a_day" BIGINT,
    ADD COLUMN "time_zone" TEXT;

ALTER TABLE "spending" ADD COLUMN "persona" TEXT;
UPDATE "spending" s SET "persona" = r."persona" FROM "runs" r WHERE r."handle" = s."handle";
CREATE INDEX "spending_persona_at_idx" ON "spending"("persona", "at");

-- Steps that were begun on a day, as the calendar of the persona has it.
CREATE TABLE "steps_of_personas" (
    "persona" TEXT NOT NULL,
    "day" TEXT NOT NULL,
    "steps" BIGINT NOT NULL,
    CONSTRAINT "steps_of_personas_pkey" PRIMARY KEY ("persona", "day")
);

-- Runs that wait until there is budget again.
CREATE TABLE "waits_for_days" (
    "handle" TEXT NOT NULL,
    "persona" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "until" TIMESTAMPTZ(3),
    CONSTRAINT "waits_for_days_pkey" PRIMARY KEY ("handle")
);
CREATE INDEX "waits_for_days_persona_idx" ON "waits_for_days"("persona");
