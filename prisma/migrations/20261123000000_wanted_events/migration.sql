-- Looks at the first `most` events that nobody has been told of, placed before they are looked at: those
-- that no unclaimed subscription matches are done with, and the others are `wanted`. One round trip for
-- whoever looks after each publishing. Who subscribes too late for the look waits for the lock that
-- "place_events" holds, and finds the event by itself. ("fresh_events" stays for older workers.)
CREATE FUNCTION "wanted_events"("most" INTEGER, OUT "looked" INTEGER, OUT "wanted" BIGINT[]) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    "fresh" BIGINT[];
    "done" BIGINT[];
BEGIN
    PERFORM "place_events"();
    "fresh" := ARRAY(SELECT "seq" FROM "published_events" WHERE NOT "dispatched" AND "position" IS NOT NULL ORDER BY "position" LIMIT "most");
    "looked" := cardinality("fresh");
    WITH "mine" AS (
        SELECT "seq" FROM "published_events" WHERE "seq" = ANY("fresh") AND NOT "dispatched" ORDER BY "seq" FOR UPDATE SKIP LOCKED
    ), "marked" AS (
        UPDATE "published_events" AS e SET "dispatched" = true FROM "mine"
        WHERE e."seq" = "mine"."seq" AND NOT EXISTS (
            SELECT 1 FROM "event_subscriptions" AS s
            WHERE s."claimed_at" IS NULL AND s."after" < e."position" AND (s."name" = e."name" OR (s."pattern" IS NOT NULL AND e."name" ~ s."pattern"))
        )
        RETURNING e."seq"
    )
    SELECT coalesce(array_agg("seq"), '{}') INTO "done" FROM "marked";
    "wanted" := ARRAY(SELECT unnest("fresh") EXCEPT SELECT unnest("done"));
END
$$;
