-- When a schedule that starts no more runs with a value was removed or replaced; null while it may.
ALTER TABLE "sealed_values" ADD COLUMN "retired_at" TIMESTAMPTZ(3);
