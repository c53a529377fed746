-- How many bytes of what the process wrote to the stream the log stands for with this chunk: another worker goes on from there.
ALTER TABLE "log_chunks" ADD COLUMN "read_bytes" BIGINT;
