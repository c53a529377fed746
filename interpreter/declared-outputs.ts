/** What a run gives to whoever started it: its variables, or what its definition declares in their place. */
import type { FailureInfo } from '../language/failure.ts';
import type { Flow, Variables } from './effect.ts';
import { namesAt, Reader } from './names.ts';
import { withoutResults } from './results.ts';
import { record, rootStrand, type Walk } from './walk-state.ts';

/** `flow`: how the run ends; one that came to a good end fails where what it declares cannot be read. */
export function givenBy(walk: Walk, flow: Flow): { outputs: Variables; flow: Flow } {
  const { position, input } = walk;
  const { outputs, strict } = input.definition;
  if (outputs === undefined) return { outputs: withoutResults(position.own), flow };
  const reader = new Reader(namesAt(walk, rootStrand(walk), [position.loop.pass], 'steps.0'));
  const values = reader.object(outputs);
  if (flow.kind !== 'done') return { outputs: values, flow };
  const unresolved = [...reader.unresolved];
  if (reader.fault !== undefined) return { outputs: values, flow: failed(reader.fault.code, reader.fault.message) };
  if (strict === true && unresolved.length > 0)
    return { outputs: values, flow: failed('UNRESOLVED_REFERENCE', `${listed(unresolved)} has no value at the end`) };
  for (const name of unresolved) {
    const message = `outputs: "${name}" has no value at the end of the run`;
    record(walk, { type: 'warning', key: 'outputs', code: 'UNRESOLVED_REFERENCE', message });
  }
  return { outputs: values, flow };
}

const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

function failed(code: string, finding: string): Flow {
  const failure: FailureInfo = { code, message: `outputs: ${finding}`, retryable: false };
  return { kind: 'failed', failure };
}
