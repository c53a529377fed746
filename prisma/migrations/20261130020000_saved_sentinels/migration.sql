-- A saved sentinel is an entity: it belongs to a persona and a project, and its name finds one of its versions. What a
-- version says stays a row of definitions. `saved_at` is null while its name finds nothing.
CREATE TABLE "saved_sentinels" (
    "id" BIGSERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "persona" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "is_public" BOOLEAN NOT NULL DEFAULT true,
    "by_person" BOOLEAN NOT NULL DEFAULT true,
    "parent_persona" TEXT,
    "tags" TEXT[] NOT NULL DEFAULT '{}',
    "origin" JSON,
    "fields" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "saved_at" TIMESTAMPTZ(6),
    "born" XID8 NOT NULL DEFAULT pg_current_xact_id(),

    CONSTRAINT "saved_sentinels_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "saved_sentinels_name_persona_project_key" ON "saved_sentinels"("name", "persona", "project");

CREATE TABLE "saved_versions" (
    "hash" TEXT NOT NULL,
    "sentinel" BIGINT NOT NULL,
    "saved_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "saved_versions_pkey" PRIMARY KEY ("hash", "sentinel")
);
CREATE INDEX "saved_versions_sentinel_idx" ON "saved_versions"("sentinel");

-- Statistics are sums over the runs of each version.
CREATE INDEX "runs_definition_hash_idx" ON "runs"("definition_hash");

-- What was saved before there were owners is nobody's. jsonb takes no NUL and no half of a pair.
INSERT INTO "saved_sentinels" ("name", "persona", "project", "hash", "fields", "created_at", "saved_at")
  SELECT DISTINCT ON ("name") "name", '', '', "hash",
    CASE WHEN "definition"::text ~ '\\u(0000|[dD][89a-fA-F])' THEN '{}'::jsonb ELSE "definition"::text::jsonb - 'id' END,
    "created_at", "saved_at"
  FROM "definitions" WHERE "saved_at" IS NOT NULL ORDER BY "name", "saved_at" DESC, "version" DESC;
INSERT INTO "saved_versions" ("hash", "sentinel", "saved_at")
  SELECT d."hash", s."id", d."saved_at" FROM "definitions" d JOIN "saved_sentinels" s ON s."name" = d."name"
  WHERE d."saved_at" IS NOT NULL;
ALTER TABLE "definitions" DROP COLUMN "saved_at";

-- Of the runs of saved sentinels, of all of them where `asked` is null. A run counts for one: of those that have its
-- definition among their versions, its own persona's comes first, then its project's.
CREATE FUNCTION "sentinel_statistics"("asked" BIGINT[])
RETURNS TABLE ("sentinel" BIGINT, "run_count" BIGINT, "success_rate" DOUBLE PRECISION, "average_ms" DOUBLE PRECISION, "last_run_at" TIMESTAMPTZ)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  WITH "counted" AS (
    SELECT r."definition_hash" AS "hash", r."persona", r."project", count(*) AS "runs",
      count(*) FILTER (WHERE r."status" = 'completed') AS "completed",
      count(*) FILTER (WHERE r."status" IN ('completed', 'failed')) AS "ended",
      sum(extract(epoch FROM r."finished_at" - r."started_at") * 1000) FILTER (WHERE r."status" IN ('completed', 'failed')) AS "ms",
      max(r."started_at") AS "latest"
    FROM "runs" r
    WHERE r."definition_hash" IN (SELECT v."hash" FROM "saved_versions" v WHERE "asked" IS NULL OR v."sentinel" = ANY("asked"))
    GROUP BY 1, 2, 3
  ), "attributed" AS (
    SELECT c.*, (
      SELECT s."id" FROM "saved_versions" v JOIN "saved_sentinels" s ON s."id" = v."sentinel" WHERE v."hash" = c."hash"
      ORDER BY s."saved_at" IS NOT NULL DESC, s."persona" = c."persona" DESC, s."project" = c."project" DESC, s."is_public" DESC, s."by_person" DESC, s."id"
      LIMIT 1
    ) AS "of" FROM "counted" c
  )
  SELECT "of", sum("runs")::bigint, (sum("completed") / nullif(sum("ended"), 0))::double precision,
    (sum("ms") / nullif(sum("ended"), 0))::double precision, max("latest")
  FROM "attributed" GROUP BY "of"
$$;

-- Saved sentinels as records of the collection of that name.
CREATE VIEW "sentinel_records" AS
  SELECT 'sentinels'::text AS "collection", s."name" AS "id", s."id" AS "position", s."born", s."created_at", d."version",
    s."fields" || jsonb_build_object(
      'uniqueId', s."name", 'name', s."name", 'version', d."version", 'definitionId', s."hash",
      'createdBy', s."persona", 'project', s."project", 'parentPersonaId', s."parent_persona", 'tags', to_jsonb(s."tags"), 'isPublic', s."is_public",
      'savedAt', floor(extract(epoch FROM s."saved_at") * 1000),
      'runCount', coalesce(t."run_count", 0), 'successRate', t."success_rate", 'averageDurationMs', round(t."average_ms"),
      'lastRunAt', floor(extract(epoch FROM t."last_run_at") * 1000)
    ) AS "data"
  FROM "saved_sentinels" s JOIN "definitions" d ON d."hash" = s."hash"
  LEFT JOIN "sentinel_statistics"(NULL) t ON t."sentinel" = s."id"
  WHERE s."saved_at" IS NOT NULL;
