/**
 * What a segment leaves in the journal: a row for each of its commits, with where its strand stood by then. The last one
 * has its result. An attempt that follows a dead one goes on from the latest, and another run can begin at each.
 */
import type { HandedOver, SegmentRequest, SegmentResult } from './contract.ts';
import type { Reply, Variables } from './effect.ts';
import type { SegmentReport } from './host.ts';
import { defined } from '../language/defined.ts';

/** `set`: variables that were set since the row before. */
export interface SegmentRow extends Omit<SegmentReport, 'flow'> {
  /** What steps came to that acted, of those that ended since the row before. */
  replies?: { [key: string]: Reply };
  /** The latest number of an event. */
  seq: number;
}

/** The last one, which holds the result, too, until its run knows it. */
export type LastRow = Pick<SegmentRow, 'replies'> & Partial<SegmentResult>;

/** How a segment is called by one of its commits, `count` from 1. */
export const rowName = (key: string, count: number): string => (count === 1 ? key : `${key}|${count}`);

export const rowKey = (key: string, count: number): string => `segment ${rowName(key, count)}`;

/** What the keys of all but the first begin with. */
export const laterRows = (key: string): string => `segment ${key}|`;

export const isResult = (row: SegmentRow | SegmentResult): row is SegmentResult => 'flow' in row;

/** How far a segment has come, as a report that its run could take. */
export interface SegmentStanding extends SegmentRow {
  count: number;
}

export const standingAfter = (rows: readonly SegmentRow[]): SegmentStanding | null => {
  const last = rows.at(-1);
  if (last === undefined) return null;
  const set: Variables = Object.assign({}, ...rows.map((row) => row.set)) as Variables;
  return { ...last, set, count: rows.length };
};

/** The request of an attempt that goes on from there. */
export function requestFrom(request: SegmentRequest, standing: SegmentStanding): SegmentRequest {
  const { strand, edited } = request;
  const { skipped = [] } = standing;
  const left = edited === undefined ? undefined : { ...edited, skips: skipsLeft(edited, skipped) };
  return {
    ...request,
    strand: { ...strand, frame: structuredClone(standing.frame), own: { ...strand.own, ...standing.set } },
    seq: standing.seq,
    tally: standing.tally ?? request.tally,
    ...defined({ edited: left }),
  };
}

const skipsLeft = (edited: NonNullable<HandedOver['edited']>, skipped: readonly string[]): string[] =>
  (edited.skips ?? []).filter((path) => !skipped.includes(path));
