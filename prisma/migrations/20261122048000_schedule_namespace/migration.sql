-- Temporal's namespace, by its id, whose schedule a value was sealed for: nobody else can say that the schedule is gone. Null for a run's.
ALTER TABLE "sealed_values" ADD COLUMN "namespace" TEXT;
