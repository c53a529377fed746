/** One thing that `doctor` looks at. */
export interface DoctorEntry {
  name: string;
  ok: boolean;
  /** What was found, in a few words. */
  found: string;
  where: string | null;
  version: string | null;
  port?: number;
  /** What to do; there whenever `ok` is false. */
  remedy?: string;
}
