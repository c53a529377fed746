-- A row may hold what several requests of a turn used together: more than 2^31 tokens fit.
ALTER TABLE "spending"
    ALTER COLUMN "input" TYPE BIGINT,
    ALTER COLUMN "output" TYPE BIGINT,
    ALTER COLUMN "cache_read" TYPE BIGINT,
    ALTER COLUMN "cache_write" TYPE BIGINT,
    ALTER COLUMN "thinking" TYPE BIGINT;
