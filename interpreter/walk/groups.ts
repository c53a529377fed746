/**
 * A run takes its place in the group that its definition names, before its first step.
 *
 * - Who has the group is kept by the host, for all runs of the project; a run asks, and asking again is
 *   answered the same. Nested runs ask for nothing.
 * - A run waits for the end of the one before it, which is a stored event; it asks again then, and now and
 *   again in case that it missed it. When it continues as new, it keeps its place.
 * - Waiting is time that the run is held: no limit counts it. A run that ends before it had the group has
 *   nothing to clean up.
 */
import { isJsonObject } from '../../language/json.ts';
import { groupNameMax } from '../../language/limits.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { wait, type Walking } from '../drive.ts';
import type { Flow, GroupPlace } from '../effect.ts';
import type { GroupTurn, Strand } from '../host.ts';
import { namesAt, Reader } from '../names.ts';
import { heldMs, record, rootStrand, type Walk } from '../walk-state.ts';

/** What the wait is called where steps have their key. */
export const GROUP_KEY = 'concurrency.group';

/** How long an end that nobody was told of may go unnoticed. */
const againMs = 600_000;

/** Null: the run may begin. */
export function* takeGroup(walk: Walk): Walking<Flow | null> {
  const { concurrency } = walk.input.definition;
  if (concurrency === undefined || walk.input.parent !== null) return null;
  const strand: Strand = { ...rootStrand(walk), own: {} };
  let place = walk.position.group;
  if (place === undefined) {
    const read = readGroup(walk, strand, concurrency.group);
    if (typeof read !== 'string') return { kind: 'failed', failure: read };
    place = { name: read, since: walk.host.now(), held: heldMs(walk) };
    walk.position.group = place;
  }
  while (place.taken !== true) {
    const turn = yield* wait(
      walk.host.askForGroup({ group: place.name, onConflict: concurrency.onConflict ?? 'queue' }),
    );
    if (typeof turn === 'string') return flowOf(turn);
    const flow = yield* takeTurn(walk, strand, place, turn);
    if (flow !== null) return flow;
  }
  return null;
}

function* takeTurn(walk: Walk, strand: Strand, place: GroupPlace, turn: GroupTurn): Walking<Flow | null> {
  const group = place.name;
  switch (turn.state) {
    case 'taken':
      place.taken = true;
      delete place.behind;
      walk.position.pausedMs += Math.max(0, walk.host.now() - place.since - (heldMs(walk) - place.held));
      record(walk, { type: 'group', key: '', group, state: 'taken' });
      return null;
    case 'skipped': {
      const { holder } = turn;
      record(walk, { type: 'group', key: '', group, state: 'skipped', holder });
      const message = `the group "${group}" is held by the run ${holder}, and "onConflict" is "skip"; start it again when that run has ended`;
      return { kind: 'stopped', limit: 'concurrency', failure: { code: 'GROUP_HELD', message, retryable: true } };
    }
    case 'waiting':
      tellWait(walk, place, turn);
      return yield* untilEnded(walk, strand, turn.next);
    default:
      return turn satisfies never;
  }
}

function tellWait(walk: Walk, place: GroupPlace, turn: Extract<GroupTurn, { state: 'waiting' }>): void {
  const { holder, next, ahead, cancels = [] } = turn;
  const told = `${holder ?? ''} ${next} ${ahead} ${cancels.join(' ')}`;
  if (place.told === told) return;
  place.told = told;
  place.behind = holder ?? next;
  record(walk, {
    type: 'group',
    key: '',
    group: place.name,
    state: 'waiting',
    holder: holder ?? next,
    ahead,
    ...(cancels.length === 0 ? {} : { cancels }),
  });
}

/** Null when it is worth while to ask again. */
function* untilEnded(walk: Walk, strand: Strand, handle: string): Walking<Flow | null> {
  const pattern = `sentinel:${handle}:status`;
  const untilMs = walk.host.now() + againMs;
  let seen: { [pattern: string]: number } = {};
  for (;;) {
    const wanted = { key: GROUP_KEY, pattern, withCause: false, consumed: seen, isOwn: true as const, untilMs };
    const end = yield* wait(walk.host.nextEvent(strand, wanted));
    if (end === 'late') return null;
    if (typeof end === 'string') return flowOf(end);
    if (isJsonObject(end.data) && end.data['outcome'] !== undefined) return null;
    seen = { [pattern]: end.position };
  }
}

function flowOf(end: 'yield' | 'stop' | 'cancel'): Flow {
  if (end === 'yield') return { kind: 'yield' };
  return end === 'stop' ? { kind: 'stopped', limit: 'stop' } : { kind: 'cancelled' };
}

function readGroup(walk: Walk, strand: Strand, written: string): string | FailureInfo {
  const reader = new Reader(namesAt(walk, strand, [], 'steps.0'));
  const group = reader.text(written).trim();
  if (reader.fault !== undefined) return invalid(reader.fault.message, reader.fault.code);
  // Anywhere else a warning would do; here runs would share a group that have nothing to do with each other.
  if (reader.unresolved.size > 0)
    return invalid(`${[...reader.unresolved].join(', ')} has no value; give the input`, 'UNRESOLVED_REFERENCE');
  if (group !== '' && group.length <= groupNameMax) return group;
  const finding = group === '' ? 'is empty' : `has ${group.length} characters, and ${groupNameMax} are allowed`;
  return invalid(`the name of the group ${finding}; see what its references stand for`, 'GROUP_INVALID');
}

const invalid = (finding: string, code: string): FailureInfo => ({
  code,
  message: `${GROUP_KEY}: ${finding}`,
  retryable: false,
});
