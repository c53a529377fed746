-- One kind of place in the order of events, for all that is fed with them: what is done with events and the new place
-- are one transaction.
ALTER TABLE "system_cursors" RENAME TO "event_cursors";
ALTER TABLE "event_cursors" RENAME CONSTRAINT "system_cursors_pkey" TO "event_cursors_pkey";
ALTER TABLE "event_cursors" ADD COLUMN "name" TEXT;
UPDATE "event_cursors" SET "name" = 'follower ' || "system" || '/' || "follower";
ALTER TABLE "event_cursors" DROP CONSTRAINT "event_cursors_pkey";
ALTER TABLE "event_cursors" DROP COLUMN "system", DROP COLUMN "follower";
ALTER TABLE "event_cursors" ADD CONSTRAINT "event_cursors_pkey" PRIMARY KEY ("name");

-- Messages about runs are made of the events that these publish.
DROP TABLE "notices";

-- A position is given once: what a lost worker had published is taken back, and what happens instead is behind all who
-- have come that far.
CREATE SEQUENCE "event_positions";
SELECT setval('event_positions', greatest((SELECT max("position") FROM "published_events"), (SELECT max("position") FROM "event_cursors"), 0) + 1, false);
CREATE OR REPLACE FUNCTION "place_events"() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM "published_events" WHERE "position" IS NULL) THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(72707370);
    UPDATE "published_events" AS e SET "position" = placed."position"
    FROM (
        SELECT u."seq", nextval('event_positions') AS "position"
        FROM (SELECT "seq" FROM "published_events" WHERE "position" IS NULL ORDER BY "seq" OFFSET 0) AS u
    ) AS placed
    WHERE e."seq" = placed."seq";
END
$$;

-- Of those that are fed, the names of the ones for which there is an event behind their place. Whoever has none among
-- the next `most` is put behind these. Events are placed before they are looked at: one round trip for whoever looks
-- after each publishing. Rows that somebody holds, and those that rest after a failure, are left alone.
CREATE FUNCTION "cursors_behind"("names" TEXT[], "exact" TEXT[], "patterns" TEXT[], "most" INTEGER)
RETURNS SETOF TEXT LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM "place_events"();
    RETURN QUERY
    WITH "held" AS (
        SELECT c."name", c."position", f."exact", f."pattern"
        FROM unnest("names", "exact", "patterns") AS f("name", "exact", "pattern") JOIN "event_cursors" AS c USING ("name")
        WHERE c."position" < "latest_event_position"() AND (c."not_before" IS NULL OR c."not_before" <= now())
        ORDER BY c."name" FOR UPDATE OF c SKIP LOCKED
    ), "seen" AS (
        SELECT h."name", s."last", s."is_full", s."is_wanted"
        FROM "held" AS h CROSS JOIN LATERAL (
            SELECT max(e."position") AS "last", count(*) = "most" AS "is_full",
                bool_or((h."exact" IS NULL OR e."name" = h."exact") AND (h."pattern" IS NULL OR e."name" ~ h."pattern")) AS "is_wanted"
            FROM (
                SELECT p."position", p."name" FROM "published_events" AS p WHERE p."position" > h."position" ORDER BY p."position" LIMIT "most"
            ) AS e
        ) AS s
        WHERE s."last" IS NOT NULL
    ), "moved" AS (
        UPDATE "event_cursors" AS c SET "position" = s."last", "attempts" = 0, "not_before" = NULL, "failure" = NULL
        FROM "seen" AS s WHERE c."name" = s."name" AND NOT s."is_wanted"
    )
    SELECT s."name" FROM "seen" AS s WHERE s."is_wanted" OR s."is_full";
END
$$;
