-- The events that some waiting run may not have been told of, the first `most` of them, placed before
-- they are read: one round trip for whoever looks after each publishing.
CREATE FUNCTION "fresh_events"("most" INTEGER) RETURNS SETOF BIGINT LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM "place_events"();
    RETURN QUERY SELECT "seq" FROM "published_events" WHERE NOT "dispatched" AND "position" IS NOT NULL ORDER BY "position" LIMIT "most";
END
$$;
