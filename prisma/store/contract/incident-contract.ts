/**
 * What went wrong in runs, kept in words, so that a question in words finds it: every failure, escalation,
 * stuck loop and limit, once for the event that said so, whatever the definition does about it.
 */

export const INCIDENT_KINDS = ['failure', 'escalation', 'stuck', 'limit'] as const;
export type IncidentKind = (typeof INCIDENT_KINDS)[number];

export interface Incident {
  handle: string;
  /** Of the event. */
  seq: number;
  /** Of the definition. */
  name: string;
  /** Of the step; empty for the run itself. */
  key: string;
  kind: IncidentKind;
  code: string;
  message: string;
  /** What the step was to do, or was asked, in words. */
  action: string | null;
  /** What became of it, in words; null while a persona is asked. */
  outcome: string | null;
  at: number;
}

export interface IncidentQuery {
  /** A question or words: incidents that share any of them, the closest first. Without it the newest first. */
  about?: string;
  /** This run and all runs nested in it. */
  handle?: string;
  kind?: IncidentKind;
  persona?: string;
  /** From this moment on, in milliseconds since the epoch. */
  since?: number;
  /** 20 unless told otherwise. */
  limit?: number;
}

export interface Incidents {
  find(query: IncidentQuery): Promise<Incident[]>;
}
