/**
 * A run's trace by structure: what happened, to which step, with which outcome. Times, texts and
 * event numbers are left out. Branches of a parallel step interleave as they like, so lines are
 * compared in an order of their own: by strand, and within a strand as they came.
 */
import type { RunEvent } from '../../../language/events/run-event.ts';

export function shapeOf(events: readonly RunEvent[]): string[] {
  const lines = events
    .filter((event) => event.type !== 'paused' && event.type !== 'resumed')
    .map((event) => ({ strand: strandOf(event.key), text: lineOf(event) }));
  return lines.toSorted((a, b) => (a.strand < b.strand ? -1 : a.strand > b.strand ? 1 : 0)).map((line) => line.text);
}

function lineOf(event: RunEvent): string {
  switch (event.type) {
    case 'step-finished':
      return `${event.key} ${event.step} ${event.outcome}${event.failure === undefined ? '' : ` ${event.failure.code}`}`;
    case 'step-started':
      return `${event.key} ${event.step} started`;
    case 'pass-finished':
      return `pass ${event.pass}`;
    case 'warning':
      return `${event.key} warning ${event.code}`;
    case 'compacted':
      return `${event.key} compacted ${event.strategy}`;
    case 'run-finished':
      return `run ${event.outcome} ${event.iterations} ${Object.keys(event.outputs).toSorted().join(' ')}`;
    case 'asked':
      return `${event.question.id} asked ${event.question.kind}`;
    case 'answered':
      return `${event.id} answered ${event.answer.choice}`;
    case 'approved':
    case 'reminded':
    case 'expired':
    case 'withdrawn':
      return `${event.id} ${event.type}`;
    case 'notified':
      return `${event.key} notified ${event.condition}`;
    case 'heard':
      return `${event.key} heard in ${event.turn}`;
    case 'told':
      return `${event.key} told ${event.text}`;
    case 'group':
      return `${event.type} ${event.state}`;
    case 'edited':
      return `${event.op} ${event.path}`;
    case 'run-started':
    case 'paused':
    case 'resumed':
      return event.type;
    default:
      return event satisfies never;
  }
}

/** `steps.2.branches.1.0@1` belongs to `steps.2.branches.1` of pass 1; what is in no branch, to the run. */
function strandOf(key: string): string {
  const [path = '', passes = ''] = key.split('@');
  const branch = /^(.*\.branches\.\d+)\./.exec(path)?.[1];
  return branch === undefined ? '' : `${branch}@${passes}`;
}
