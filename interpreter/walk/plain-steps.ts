/** Steps that ask nothing of the world: they are done where the walk stands, in a segment or outside. */
import { shortened } from '../../language/events/preview.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { faultOfValues } from '../../language/json.ts';
import type { FailStep, SetStep, Step } from '../../language/model.ts';
import { labelOf, strictFailure } from '../build-effect.ts';
import type { Flow, Place } from '../effect.ts';
import type { Strand } from '../host.ts';
import { namesAt, Reader } from '../names.ts';
import { finish } from '../results.ts';
import { record, setVariable, type Walk } from '../walk-state.ts';

const messageLengthMax = 2_000;

export function walkFail(walk: Walk, strand: Strand, step: FailStep, place: Place): Flow {
  const startedAt = walk.host.now();
  const reader = new Reader(namesAt(walk, strand, place.passes, place.path));
  const said = reader.text(step.message).trim();
  const message = said === '' ? `${place.key}: the step fails, and its message is empty here` : said;
  const failure = readFault(walk, place, reader) ?? {
    code: step.code ?? 'STEP_FAILED',
    message: shortened(message, messageLengthMax),
    retryable: true,
  };
  return finish(walk, strand, step, place, startedAt, { failure }, labelOf(step));
}

export function walkSet(walk: Walk, strand: Strand, step: SetStep, place: Place): Flow {
  const startedAt = walk.host.now();
  const reader = new Reader(namesAt(walk, strand, place.passes, place.path));
  const values = reader.object(step.values);
  const fault = faultOfValues(values, (name) => `${place.key}: "${name}"`);
  const failure = readFault(walk, place, reader) ?? (fault === null ? null : { ...fault, retryable: false });
  const ending = failure === null ? { value: values } : { failure };
  const flow = finish(walk, strand, step, place, startedAt, ending, labelOf(step));
  if (failure === null) for (const [name, value] of Object.entries(values)) setVariable(walk, strand, name, value);
  return flow;
}

/** What keeps a step from being read; names without a value are warned of, where that is not it. */
function readFault(walk: Walk, { key }: Place, { fault, unresolved }: Reader): FailureInfo | null {
  if (fault !== undefined) return { ...fault, message: `${key}: ${fault.message}`, retryable: false };
  if (unresolved.size === 0) return null;
  if (walk.input.definition.strict === true) return strictFailure(key, [...unresolved]);
  for (const name of unresolved)
    record(walk, {
      type: 'warning',
      key,
      code: 'UNRESOLVED_REFERENCE',
      message: `${key}: "${name}" has no value here`,
    });
  return null;
}

const PLAIN: ReadonlySet<Step['type']> = new Set(['condition', 'loop', 'parallel', 'fail', 'set']);

/** Whether a step asks nothing of the world by itself. */
export const isPlain = ({ type }: Pick<Step, 'type'>): boolean => PLAIN.has(type);
