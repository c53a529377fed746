/** What a run did, step by step: its events folded over all passes into a state for each entry of its tree. */
import type { RunEvent, RunStatus, StepFinished, StepOutcome, StepStarted, StepUsage } from '../events/run-event.ts';
import { defined } from '../defined.ts';

export interface StepState {
  /** Of the latest pass: how it ended, or that it is under way. */
  outcome: StepOutcome | 'running';
  /** Passes in which the step ran, however often it was tried in each. */
  passes: number;
  durationMs: number;
  failures: number;
  /** Of a condition: how often each branch was taken. */
  taken?: { then: number; else: number };
  /** What it cost in all; of a run, its steps together. */
  usage?: StepUsage;
}

/** What an event says of the run as a whole. */
export function foldRunEvent(run: { run?: StepState }, event: RunEvent): void {
  if (event.type === 'run-started') run.run = { outcome: 'running', passes: 0, durationMs: 0, failures: 0 };
  if (event.type === 'step-finished' && run.run !== undefined) addUsage(run.run, event.usage);
  if (event.type !== 'run-finished') return;
  const { usage } = run.run ?? {};
  const outcome = endOf(event.status, event.outcome);
  run.run = { outcome, passes: event.iterations, durationMs: event.durationMs, failures: outcome === 'failed' ? 1 : 0 };
  addUsage(run.run, usage);
}

/** `running`: keys of the steps that have begun and not ended. */
export function foldStep(
  before: StepState | undefined,
  event: StepStarted | StepFinished,
  running: Set<string>,
): StepState {
  const state: StepState = before ?? { outcome: 'running', passes: 0, durationMs: 0, failures: 0 };
  const isNew = event.type === 'step-started' || !running.delete(event.key);
  if (isNew && !isLaterAttempt(event.key)) state.passes += 1;
  if (event.type === 'step-started') {
    running.add(event.key);
    state.outcome = 'running';
    return state;
  }
  state.outcome = event.outcome;
  state.durationMs += event.durationMs;
  addUsage(state, event.usage);
  if (event.outcome === 'failed' || event.outcome === 'retried') state.failures += 1;
  if (event.step === 'condition' && event.outcome === 'ok' && (event.preview === 'then' || event.preview === 'else')) {
    state.taken ??= { then: 0, else: 0 };
    state.taken[event.preview] += 1;
  }
  return state;
}

function addUsage(state: StepState, usage: StepUsage | undefined): void {
  if (usage === undefined) return;
  const { tokens, usd, ...rest } = state.usage ?? { tokens: 0, usd: 0 };
  const isUnpriced = rest.isUnpriced ?? usage.isUnpriced;
  state.usage = {
    tokens: tokens + usage.tokens,
    usd: usd + usage.usd,
    ...defined({ isUnpriced }),
  };
}

const isLaterAttempt = (key: string): boolean => /#\d+@/.test(key);

function endOf(status: RunStatus, outcome: string): StepOutcome {
  if (status === 'failed') return 'failed';
  return outcome === 'cancelled' || status === 'cancelled' ? 'cancelled' : 'ok';
}
