/** A run's report for people. */
import type { RunOutcome, RunStatus } from '../../language/events/run-event.ts';
import { previewOf, shortened } from '../../language/events/preview.ts';
import type { Paint } from '../../client/show/paint.ts';
import { aheadWords, groupWords } from '../../language/events/event-words.ts';
import type { GroupReport, LeaseReport, PlaceReport } from '../../client/lookup/run-places.ts';
import type { FailingRun, RunReport } from '../../client/lookup/run-report.ts';
import { durationText, oneLine } from '../../client/show/trace.ts';

const shownMax = 120;

export function statusText(
  run: { status: RunStatus; outcome: RunOutcome | null; limit?: string | null },
  paint: Paint,
): string {
  const { status, outcome, limit } = run;
  const text =
    outcome === null || outcome === status ? status : `${outcome}${limit && limit !== 'stop' ? ` (${limit})` : ''}`;
  if (status === 'completed') return paint.good(text);
  return status === 'failed' || status === 'cancelled' ? paint.bad(text) : paint.warn(text);
}

export function reportLines(report: RunReport & { name?: string; failing?: FailingRun }, paint: Paint): string[] {
  const {
    handle,
    name,
    iterations,
    durationMs,
    webUrl,
    failure,
    outputs,
    limit,
    status,
    origin,
    reason,
    group,
    place,
    leases = [],
    waits = [],
    underWay = [],
    told = [],
  } = report;
  const passes = iterations === 1 ? '1 pass' : `${iterations} passes`;
  const lines = [
    `${statusText(report, paint)}  ${name === undefined ? '' : `${paint.strong(name)}  `}${passes}, ${durationText(durationMs)}`,
  ];
  if (origin?.type === 'saved') lines.push(`  from the saved copy, version ${origin.version}`);
  if (failure !== undefined) lines.push(`  ${paint.bad(failure.code)}: ${failure.message}`);
  if (limit !== undefined && limit !== 'stop' && failure === undefined)
    lines.push(
      `  it reached its limit ${paint.strong(limit)}; raise it in the definition, or see what the last pass did`,
    );
  if (group !== undefined) lines.push(`  ${group.state === 'taken' ? groupText(group) : paint.warn(groupText(group))}`);
  if (place !== undefined) lines.push(`  ${place.state === 'taken' ? placeText(place) : paint.warn(placeText(place))}`);
  if (reason !== undefined) lines.push(`  held: ${oneLine(reason)}`);
  if (report.failing !== undefined) lines.push(...failingLines(report.failing, paint));
  for (const { step, label, since } of underWay)
    lines.push(
      `  under way: ${step} ${shortened(oneLine(label), shownMax)}, since ${clockText(new Date(since), new Date())}`,
    );
  for (const lease of leases)
    lines.push(`  ${lease.state === 'taken' ? leaseText(lease) : paint.warn(leaseText(lease))} (${lease.step})`);
  for (const wait of waits)
    lines.push(
      `  waiting for ${paint.warn(wait.for)} until ${clockText(new Date(wait.until), new Date())}${limitIn(wait.why)} (${wait.step})`,
    );
  for (const { by, text, step } of told)
    lines.push(`  told by ${by}: ${shortened(oneLine(text), shownMax)} (${step}, before its next turn)`);
  const named = Object.entries(outputs);
  if (named.length > 0) lines.push('  outputs:');
  for (const [key, value] of named)
    lines.push(`    ${paint.strong(key)}: ${shortened(oneLine(previewOf(value)), shownMax)}`);
  lines.push(`  handle: ${handle}`);
  if (status === 'failed') lines.push(`  logs: sentinel logs ${handle}`);
  if (report.outcome === 'failed') lines.push(`  again from there: sentinel retry ${handle}`);
  lines.push(`  web: ${webUrl ?? `sentinel web ${handle}`}`);
  return lines;
}

function failingLines({ times, finding, remedy }: FailingRun, paint: Paint): string[] {
  return [
    `  ${paint.bad('stands still')}: its workflow task has failed ${times} times (${oneLine(finding)})`,
    `    ${remedy}`,
  ];
}

export function groupText({ name, state, behind, ahead }: GroupReport): string {
  return groupWords({ group: name, state, holder: behind ?? 'a run that is about to begin', ahead });
}

function placeText({ persona, places, state, ahead }: PlaceReport): string {
  const one = `${places === 1 ? 'the one place' : `one of the ${places} places`} of ${persona}`;
  return state === 'taken' ? `has ${one}` : `waits for ${one}${aheadWords(ahead)}`;
}

function leaseText({ name, capacity, state, behind, ahead }: LeaseReport): string {
  const lease = `the lease "${oneLine(name)}"`;
  if (state === 'taken') return `has ${capacity === 1 ? '' : 'a place in '}${lease}`;
  const holders = behind.length === 0 ? '' : ` behind ${[...new Set(behind)].join(', ')}`;
  const others = ahead === 0 ? '' : `, with ${ahead} more before this step`;
  return `waits for ${capacity === 1 ? '' : 'a place in '}${lease}${holders}${others}`;
}

/** Whoever set a limit wants to know of it here; what a provider says stands in the warning. */
function limitIn(why: string): string {
  const limit = /: (limit of \d+ (?:a minute|at once))/.exec(why)?.[1];
  return limit === undefined ? '' : `: ${limit}`;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const two = (number: number): string => String(number).padStart(2, '0');

/** When it will be by the clock on the wall: with seconds where that is within a minute, with the date where it is not within a day. */
export function clockText(when: Date, now: Date): string {
  const leftMs = when.getTime() - now.getTime();
  const time = `${two(when.getHours())}:${two(when.getMinutes())}`;
  if (leftMs < minuteMs) return `${time}:${two(when.getSeconds())}`;
  return leftMs < dayMs ? time : `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} ${time}`;
}
