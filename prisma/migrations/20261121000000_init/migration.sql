-- CreateTable
CREATE TABLE "definitions" (
    "hash" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "definition" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "definitions_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "runs" (
    "handle" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "definition_hash" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "persona" TEXT NOT NULL,
    "parent" TEXT,
    "inputs" JSON NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'running',
    "status_seq" BIGINT NOT NULL DEFAULT -1,
    "outcome" TEXT,
    "limit" TEXT,
    "failure" JSON,
    "outputs" JSON,
    "iterations" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "runs_pkey" PRIMARY KEY ("handle")
);

-- CreateTable
CREATE TABLE "run_events" (
    "handle" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "type" TEXT NOT NULL,
    "event" JSON NOT NULL,

    CONSTRAINT "run_events_pkey" PRIMARY KEY ("handle","seq")
);

-- CreateTable
CREATE TABLE "log_chunks" (
    "position" BIGSERIAL NOT NULL,
    "revision" BIGSERIAL NOT NULL,
    "handle" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "stream" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "part" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    "dropped_bytes" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "log_chunks_pkey" PRIMARY KEY ("position")
);

-- CreateTable
CREATE TABLE "payloads" (
    "hash" TEXT NOT NULL,
    "content" BYTEA NOT NULL,
    "size" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "payloads_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "journal" (
    "handle" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "result" JSON NOT NULL,

    CONSTRAINT "journal_pkey" PRIMARY KEY ("handle","key")
);

-- CreateTable
CREATE TABLE "records" (
    "collection" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "records_pkey" PRIMARY KEY ("collection","id")
);

-- CreateTable
CREATE TABLE "published_events" (
    "seq" BIGSERIAL NOT NULL,
    "handle" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "data" JSON NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "published_events_pkey" PRIMARY KEY ("seq")
);

-- CreateIndex
CREATE UNIQUE INDEX "definitions_name_version_key" ON "definitions"("name", "version");

-- CreateIndex
CREATE INDEX "runs_started_at_idx" ON "runs"("started_at" DESC);

-- CreateIndex
CREATE INDEX "runs_status_started_at_idx" ON "runs"("status", "started_at" DESC);

-- CreateIndex
CREATE INDEX "runs_persona_started_at_idx" ON "runs"("persona", "started_at" DESC);

-- CreateIndex
CREATE INDEX "runs_parent_idx" ON "runs"("parent");

-- CreateIndex
CREATE UNIQUE INDEX "log_chunks_handle_key_stream_attempt_part_key" ON "log_chunks"("handle", "key", "stream", "attempt", "part");

-- CreateIndex
CREATE INDEX "log_chunks_handle_position_idx" ON "log_chunks"("handle", "position");

-- CreateIndex
CREATE INDEX "log_chunks_handle_revision_idx" ON "log_chunks"("handle", "revision");

-- CreateIndex
CREATE INDEX "records_collection_position_idx" ON "records"("collection", "position");

-- CreateIndex
CREATE UNIQUE INDEX "published_events_handle_key_key" ON "published_events"("handle", "key");

-- CreateIndex
CREATE INDEX "published_events_name_seq_idx" ON "published_events"("name", "seq");

-- Payloads are large and read as they are: compressing them would cost more than it saves.
ALTER TABLE "payloads" ALTER COLUMN "content" SET STORAGE EXTERNAL;
