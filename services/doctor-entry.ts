/** One thing that `doctor` looks at. */
export interface DoctorEntry {
  name: string;
  ok: boolean;
  /** What was found, in a few words. */
  found: string;
  where: string | null;
  version: string | null;
  port?: number;
  /** Of the worker of a project: the project's folder. */
  project?: string;
  /** What to do; there whenever `ok` is false. */
  remedy?: string;
}
