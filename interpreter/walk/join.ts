/**
 * A step that waits until other runs have ended.
 *
 * - The end of a run is an event that the store keeps (`sentinel:HANDLE:status`), so one that ended before
 *   it is waited for, or before this run began, or while it continues as new, is not missed.
 * - The runs are waited for one after the other; all of them have to end, so the order costs no time.
 * - What this step has seen of the events is its own: watches of the run lose nothing by it.
 */
import { outermost } from '../../language/events/nested-runs.ts';
import { shortened } from '../../language/events/preview.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { joinedRunsMax, watchTimeoutMs } from '../../language/limits.ts';
import type { JoinStep } from '../../language/model.ts';
import { labelOf, unresolvedFailure } from '../build-effect.ts';
import type { Walking } from '../drive.ts';
import type { Flow, Place } from '../effect.ts';
import type { Strand } from '../host.ts';
import { namesAt, Reader } from '../names.ts';
import type { BlockFrame, JoiningFrame } from '../position.ts';
import { finish } from '../results.ts';
import { catchEvent, deadline, refusedPattern } from '../waits.ts';
import { heldMs, record, type Walk } from '../walk-state.ts';

const shownMax = 80;
/** How a model looks at runs. */
const STATUS = 'sentinel/status';

export function* walkJoin(walk: Walk, strand: Strand, step: JoinStep, place: Place, frame: BlockFrame): Walking<Flow> {
  const label = labelOf(step);
  let open = frame.step;
  if (open?.type !== 'joining') {
    const since = walk.host.now();
    const read = readHandles(walk, strand, step, place);
    if ('code' in read) return finish(walk, strand, step, place, since, { failure: read }, label);
    open = { type: 'joining', since, held: heldMs(walk), handles: read.handles, ended: [] };
    frame.step = open;
    walk.position.steps += 1;
    record(walk, { type: 'step-started', key: place.key, step: 'join', label });
  }
  const end = yield* untilAllEnded(walk, strand, step, place, open);
  if (end === null) return finish(walk, strand, step, place, open.since, { value: open.ended }, label);
  if ('code' in end) return finish(walk, strand, step, place, open.since, { failure: end }, label);
  if (end.kind !== 'yield') finish(walk, strand, step, place, open.since, { cancelled: true }, label);
  return end;
}

/** Null when all of them have. */
function* untilAllEnded(
  walk: Walk,
  strand: Strand,
  step: JoinStep,
  { key }: Place,
  open: JoiningFrame,
): Walking<Flow | FailureInfo | null> {
  const timeoutMs = Math.min(step.timeoutMs ?? watchTimeoutMs, walk.input.limits.stepTimeoutMs ?? watchTimeoutMs);
  for (let handle = open.handles[open.ended.length]; handle !== undefined; handle = open.handles[open.ended.length]) {
    const pattern = `sentinel:${handle}:status`;
    const caught = yield* catchEvent(walk, strand, {
      key,
      pattern,
      withCause: false,
      until: deadline(walk, open.since + timeoutMs, open.held),
      own: open.seen === undefined ? {} : { [pattern]: open.seen },
    });
    if ('flow' in caught) return caught.flow;
    if ('late' in caught) {
      const message = `${key}: the run "${handle}" did not end within ${timeoutMs} ms; raise timeoutMs, or see what it waits for`;
      return { code: 'STEP_TIMEOUT', message, retryable: true };
    }
    const { data, position } = caught.event;
    if (isJsonObject(data) && data['outcome'] !== undefined) {
      open.ended.push(endOf(handle, data));
      delete open.seen;
    } else open.seen = position;
  }
  return null;
}

function endOf(handle: string, { at: _at, parent: _parent, ...end }: JsonObject): JsonObject {
  return { ...end, handle, success: end['outcome'] === 'completed' };
}

function readHandles(walk: Walk, strand: Strand, step: JoinStep, place: Place): { handles: string[] } | FailureInfo {
  const { key, passes, path } = place;
  const reader = new Reader(namesAt(walk, strand, passes, path));
  const value = reader.value(step.handles);
  if (reader.fault) return { ...reader.fault, message: `${key}: ${reader.fault.message}`, retryable: false };
  // Anywhere else a warning would do; here a run would not be waited for.
  if (reader.unresolved.size > 0) return unresolvedFailure(key, [...reader.unresolved]);
  const handles = handlesIn(value);
  if (handles === null)
    return invalid(
      `${key}: "handles" holds ${shortened(JSON.stringify(value), shownMax)}, and it must hold handles of runs, or what steps with "await": false returned`,
    );
  if (handles.length > joinedRunsMax)
    return invalid(
      `${key}: "handles" holds ${handles.length} runs, and ${joinedRunsMax} are waited for at most; use several steps`,
    );
  const foreign = handles.find((handle) => isForeign(walk, handle));
  if (foreign !== undefined)
    return {
      code: 'RIGHTS_EXCEEDED',
      message: `${key}: "${foreign}" is a run of others, and a model whose step has no "${STATUS}" among its tools does not hear of its end`,
      retryable: false,
    };
  const refused = handles.map((handle) => refusedPattern(key, `sentinel:${handle}:status`)).find((one) => one !== null);
  return refused ?? { handles };
}

/** Of others, for a program of a model that may not look at runs: what is not nested in its own. */
function isForeign({ input: { handle: own, limits } }: Walk, handle: string): boolean {
  const { tools } = limits.brought ?? {};
  return tools !== undefined && !tools.includes(STATUS) && outermost(handle) !== outermost(own);
}

const invalid = (message: string): FailureInfo => ({ code: 'JOIN_INVALID', message, retryable: false });

function handlesIn(value: Json): string[] | null {
  if (Array.isArray(value)) {
    const inner = value.map(handlesIn);
    return inner.includes(null) ? null : inner.flatMap((handles) => handles ?? []);
  }
  const handle = isJsonObject(value) ? value['handle'] : value;
  if (typeof handle === 'string') return handle !== '' && !handle.includes('*') ? [handle] : null;
  return isJsonObject(value) ? handlesOfItem(value) : null;
}

/** What an item of a list set: the runs that it started are among its variables. */
function handlesOfItem(item: JsonObject): string[] | null {
  const started = Object.values(item).filter((value) => isJsonObject(value) && typeof value['handle'] === 'string');
  return started.length === 0 ? null : handlesIn(started);
}
