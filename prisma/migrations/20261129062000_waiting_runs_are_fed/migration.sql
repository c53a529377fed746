-- Runs that wait for events are woken from a place in the order of events, in place of a mark on each event.
INSERT INTO "event_cursors" ("name", "position")
SELECT 'waiting runs', coalesce((SELECT min("position") - 1 FROM "published_events" WHERE NOT "dispatched"), "latest_event_position"());
DROP FUNCTION "wanted_events"(INTEGER);
DROP FUNCTION "fresh_events"(INTEGER);
DROP INDEX "published_events_undispatched_idx";
ALTER TABLE "published_events" DROP COLUMN "dispatched";

-- Claims the subscriptions that the next events match, at most `most` of them, and is done with the events where no
-- more are left: one transaction and one round trip for whoever looks after each publishing. Each statement sees what
-- was committed before it: a subscription written before an event had its place is claimed, and whoever writes one later
-- finds the event by itself.
CREATE FUNCTION "claim_waiting"("events" INTEGER, "most" INTEGER, OUT "looked" INTEGER, OUT "handles" TEXT[], OUT "globs" TEXT[], OUT "claimed" TIMESTAMPTZ)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    "start" BIGINT;
    "last" BIGINT;
    -- As the column keeps it.
    "time" TIMESTAMPTZ(3) := clock_timestamp();
BEGIN
    "handles" := '{}';
    "globs" := '{}';
    "claimed" := "time";
    PERFORM "place_events"();
    SELECT c."position" INTO "start" FROM "event_cursors" AS c WHERE c."name" = 'waiting runs' FOR UPDATE;
    SELECT count(*), max(n."position") INTO "looked", "last"
    FROM (SELECT e."position" FROM "published_events" AS e WHERE e."position" > "start" ORDER BY e."position" LIMIT "events") AS n;
    IF "looked" = 0 THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT 1 FROM "event_subscriptions" AS s WHERE s."claimed_at" IS NULL) THEN
        WITH "fresh" AS MATERIALIZED (
            SELECT e."name", max(e."position") AS "position" FROM "published_events" AS e
            WHERE e."position" > "start" AND e."position" <= "last" GROUP BY e."name"
        ), "exact" AS (
            SELECT s."handle", s."glob" FROM "fresh" AS f JOIN "event_subscriptions" AS s ON s."name" = f."name"
            WHERE s."claimed_at" IS NULL AND s."after" < f."position" LIMIT "most" FOR UPDATE OF s
        ), "wild" AS (
            SELECT s."handle", s."glob" FROM "event_subscriptions" AS s
            WHERE s."pattern" IS NOT NULL AND s."claimed_at" IS NULL
                AND EXISTS (SELECT 1 FROM "fresh" AS f WHERE s."after" < f."position" AND f."name" ~ s."pattern") LIMIT "most" FOR UPDATE OF s
        ), "due" AS (
            SELECT * FROM "exact" UNION ALL SELECT * FROM "wild" LIMIT "most"
        ), "taken" AS (
            UPDATE "event_subscriptions" AS s SET "claimed_at" = "time" FROM "due"
            WHERE s."handle" = "due"."handle" AND s."glob" = "due"."glob" RETURNING s."handle", s."glob"
        )
        SELECT coalesce(array_agg(t."handle"), '{}'), coalesce(array_agg(t."glob"), '{}') INTO "handles", "globs" FROM "taken" AS t;
    END IF;
    IF cardinality("handles") < "most" THEN
        UPDATE "event_cursors" AS c SET "position" = "last" WHERE c."name" = 'waiting runs';
    END IF;
END
$$;
