/**
 * What a run did, by the path of the step: its events folded over all passes. Laid over the graph of
 * its definition this shows how far the run is, what failed, and where the time went.
 */
import type { RunEvent, RunStatus, StepOutcome } from '../run-event.ts';
import type { Graph } from './graph.ts';

export interface StepState {
  /** Of the latest pass: how it ended, or that it is under way. */
  outcome: StepOutcome | 'running';
  /** Passes in which the step ran. */
  passes: number;
  durationMs: number;
  failures: number;
  /** Of a condition: how often each branch was taken. */
  taken?: { then: number; else: number };
}

export type RunStates = Map<string, StepState>;

/** Folds the events of one run into `states`; `prefix` is the nested run's path with a slash. */
export function foldStates(states: RunStates, events: readonly RunEvent[], prefix = ''): void {
  const running = new Set<string>();
  for (const event of events.toSorted((a, b) => a.seq - b.seq)) {
    if (event.type === 'run-started') states.set(`${prefix}run`, { outcome: 'running', passes: 0, durationMs: 0, failures: 0 });
    else if (event.type === 'run-finished') {
      const outcome = endOf(event.status, event.outcome);
      states.set(`${prefix}run`, { outcome, passes: event.iterations, durationMs: event.durationMs, failures: outcome === 'failed' ? 1 : 0 });
    } else if (event.type === 'step-started') {
      const state = stateAt(states, prefix + pathOfKey(event.key));
      state.outcome = 'running';
      state.passes += 1;
      running.add(event.key);
    } else if (event.type === 'step-finished') {
      const state = stateAt(states, prefix + pathOfKey(event.key));
      if (!running.delete(event.key)) state.passes += 1;
      state.outcome = event.outcome;
      state.durationMs += event.durationMs;
      if (event.outcome === 'failed') state.failures += 1;
      if (event.step === 'condition' && event.outcome === 'ok') {
        state.taken ??= { then: 0, else: 0 };
        if (event.preview === 'then' || event.preview === 'else') state.taken[event.preview] += 1;
      }
    }
  }
}

/** The path of a nested run's steps, from what its handle adds to the outermost one's: `steps.2@1/steps.0@1`. */
export function prefixOf(under: string): string {
  return under === '' ? '' : `${under.split('/').map(pathOfKey).join('/')}/`;
}

export function withStates(graph: Graph, states: RunStates): Graph {
  const taken = new Map<string, NonNullable<StepState['taken']>>();
  const nodes = graph.nodes.map((node) => {
    const state = states.get(node.path);
    if (state?.taken !== undefined) taken.set(node.id, state.taken);
    return state === undefined || node.kind === 'join' || node.kind === 'end' ? node : { ...node, state };
  });
  const edges = graph.edges.map((edge) => {
    const counts = taken.get(edge.from);
    const times = edge.label === 'yes' ? counts?.then : edge.label === 'no' ? counts?.else : undefined;
    return times === undefined ? edge : { ...edge, label: `${edge.label} · ${times}×` };
  });
  return { ...graph, nodes, edges };
}

function stateAt(states: RunStates, path: string): StepState {
  let state = states.get(path);
  if (state === undefined) {
    state = { outcome: 'running', passes: 0, durationMs: 0, failures: 0 };
    states.set(path, state);
  }
  return state;
}

function pathOfKey(key: string): string {
  const at = key.lastIndexOf('@');
  return at === -1 ? key : key.slice(0, at);
}

function endOf(status: RunStatus, outcome: string): StepOutcome {
  if (status === 'failed') return 'failed';
  return outcome === 'cancelled' || status === 'cancelled' ? 'cancelled' : 'ok';
}
