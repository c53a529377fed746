-- Groups of runs within a project, of which one run at a time goes on: each run that asked has a place, in the
-- order in which the runs were started. `taken_at` is there once it had its turn. A run that has ended is in
-- nobody's way: its end is what frees the group.
CREATE TABLE "group_places" (
    "handle" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "nth" BIGSERIAL NOT NULL,
    "taken_at" TIMESTAMPTZ(3),

    CONSTRAINT "group_places_pkey" PRIMARY KEY ("handle")
);

CREATE INDEX "group_places_project_name_idx" ON "group_places"("project", "name", "since", "nth");
