-- How many runs of a persona may be at work at the same time.
CREATE TABLE "limits_of_personas" (
    "persona" TEXT NOT NULL,
    "places" INTEGER,
    "set_by" TEXT NOT NULL,
    "set_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "limits_of_personas_pkey" PRIMARY KEY ("persona")
);
