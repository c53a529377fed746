-- Values of secret environment variables, by the token that stands for them in a run.
CREATE TABLE "sealed_values" (
    "token" TEXT NOT NULL,
    "handle" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sealed_values_pkey" PRIMARY KEY ("token")
);

CREATE INDEX "sealed_values_handle_idx" ON "sealed_values"("handle");
