-- Who changes a record can say which version of it was read. The transaction that wrote it first gives records an
-- order in which none is committed unseen before one that was read: a list that goes on later misses none.
ALTER TABLE "records" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "records" ADD COLUMN "born" XID8 NOT NULL DEFAULT pg_current_xact_id();
DROP INDEX "records_collection_position_idx";
CREATE INDEX "records_collection_born_position_idx" ON "records"("collection", "born", "position");

-- By what records are ordered and indexed: numbers, texts by their first 100 characters, booleans, then lists and
-- objects, and last what is missing or null, in both directions. As bytes (collation "C"), so that the order is the
-- same in each database, and as few of them as three fit into an entry of an index.
CREATE FUNCTION "record_key"("value" JSONB, "descending" BOOLEAN) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  kind text := jsonb_typeof("value");
  key text;
BEGIN
  IF kind = 'number' THEN
    key := encode(float8send("value"::float8), 'hex');
    IF "value"::float8 < 0 THEN
      key := 'a0' || translate(key, '0123456789abcdef', 'fedcba9876543210');
    ELSE
      key := 'a1' || key;
    END IF;
  ELSIF kind = 'string' THEN
    key := 'b' || left("value" #>> '{}', 100);
  ELSIF kind = 'boolean' THEN
    key := CASE WHEN "value"::boolean THEN 'c1' ELSE 'c0' END;
  ELSIF kind IS NULL OR kind = 'null' THEN
    RETURN '~';
  ELSE
    key := 'd' || left("value"::text, 100);
  END IF;
  IF "descending" THEN
    RETURN translate(encode(convert_to(key, 'UTF8'), 'hex'), '0123456789abcdef', 'fedcba9876543210') || '~';
  END IF;
  RETURN key;
END
$$;
