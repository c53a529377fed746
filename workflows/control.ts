/**
 * Control of a run while it runs: pause, resume and stop as updates with validators, the same verbs
 * as a signal from a parent to its nested runs, and the queries. Every verb may be repeated: saying
 * it again changes nothing and is answered with the state as it is.
 */
import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { RunEvent, RunStatus } from '../language/run-event.ts';
import { record, type Walk } from './interpreter/ledger.ts';
import { QUERIES, SIGNALS, UPDATES, workflowIdOf, type ControlVerb, type Messages, type RunState } from './messages.ts';
import { SEARCH_ATTRIBUTES } from './search-attributes.ts';

const traceKeptMax = 100;

export class Control {
  /** Set once the run's result is known; from then on nothing can be asked of it. */
  ended: RunStatus | null = null;
  cancelled = false;
  readonly current = new Map<string, string>();
  /** Handles of nested runs that are under way and awaited. */
  readonly nested = new Set<string>();
  private readonly recent: RunEvent[] = [];
  private readonly walk: Walk;

  constructor(walk: Walk) {
    this.walk = walk;
  }

  remember(event: RunEvent): void {
    // Loops and parallel steps may end inside a segment, which this never hears of.
    const isLeaf = event.type === 'step-started' && event.step !== 'loop' && event.step !== 'parallel';
    if (isLeaf) this.current.set(event.key, event.label);
    if (event.type === 'step-finished') this.current.delete(event.key);
    this.recent.push(event);
    if (this.recent.length > traceKeptMax) this.recent.shift();
  }

  state(): RunState {
    const { position, input } = this.walk;
    return {
      handle: input.handle,
      status: this.ended ?? (position.paused ? 'paused' : 'running'),
      reason: position.paused?.reason ?? null,
      stopping: position.stopping,
      iteration: position.loop.pass,
      steps: position.steps,
      current: Array.from(this.current, ([key, label]) => ({ key, label })),
      startedAt: input.startedAt,
    };
  }

  pause(reason: string): RunState {
    const { position, host } = this.walk;
    if (position.paused === null && !position.stopping) {
      position.paused = { reason, since: host.now() };
      record(this.walk, { type: 'paused', key: '', reason });
      upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.status, value: 'paused' }]);
      this.tellNested('pause');
      host.suspended();
    }
    return this.state();
  }

  resume(): RunState {
    const { position, host } = this.walk;
    if (position.paused !== null) {
      position.pausedMs += host.now() - position.paused.since;
      position.paused = null;
      record(this.walk, { type: 'resumed', key: '' });
      upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.status, value: 'running' }]);
      this.tellNested('resume');
      host.suspended();
    }
    return this.state();
  }

  stop(): RunState {
    if (!this.walk.position.stopping) {
      this.resume();
      this.walk.position.stopping = true;
      this.tellNested('stop');
    }
    return this.state();
  }

  /** Registers the handlers; called once, before the first step. */
  listen(): void {
    const refuseEnded = (verb: ControlVerb) => (): void => {
      if (this.ended === null) return;
      const message = `${this.walk.input.handle} has ended (${this.ended}); there is nothing to ${verb}`;
      throw ApplicationFailure.nonRetryable(message, 'RUN_ENDED');
    };
    const { pause, resume, stop } = UPDATES;
    setHandler(defineUpdate<RunState, [string]>(pause), (reason: string) => this.pause(reason), {
      validator: (_reason: string) => refuseEnded('pause')(),
      description: 'Hold the run before its next step',
    });
    setHandler(defineUpdate<RunState>(resume), () => this.resume(), {
      validator: refuseEnded('resume'),
      description: 'Let a held run go on',
    });
    setHandler(defineUpdate<RunState>(stop), () => this.stop(), {
      validator: refuseEnded('stop'),
      description: 'End the run after the step under way',
    });
    setHandler(defineSignal<[ControlVerb]>(SIGNALS.control), (verb) => void this.apply(verb));
    setHandler(defineQuery<RunState>(QUERIES.status), () => this.state(), { description: 'What the run is doing' });
    setHandler(defineQuery<RunEvent[]>(QUERIES.trace), () => [...this.recent], { description: 'Its latest events' });
    setHandler(defineQuery<ReturnType<Messages['position']>>(QUERIES.position), () => this.walk.position, {
      description: 'Where it stands, as the value it would continue from',
    });
  }

  apply(verb: ControlVerb): RunState {
    switch (verb) {
      case 'pause':
        return this.pause('the run that started this one is paused');
      case 'resume':
        return this.resume();
      case 'stop':
        return this.stop();
      default:
        return verb satisfies never;
    }
  }

  /** A nested run may end while the signal is on its way: then there is nobody to tell. */
  private tellNested(verb: ControlVerb): void {
    for (const handle of [...this.nested, ...this.walk.position.detached]) {
      getExternalWorkflowHandle(workflowIdOf(handle)).signal(SIGNALS.control, verb).catch(() => undefined);
    }
  }
}
