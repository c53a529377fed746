/**
 * A host that answers the interpreter from a script, in simulated time. It stands where the Temporal
 * host stands: it yields after a number of steps as continue-as-new does, and hands quick steps to
 * the real segment over a copy of the request.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Json } from '../../language/json.ts';
import type { Step } from '../../language/model.ts';
import type { RunEvent } from '../../language/run-event.ts';
import { isQuick } from '../../workflows/interpreter/effects.ts';
import type { Effect, Flow, Gate, Host, NestedEffect, Reply, RunInput, SegmentReport, Strand } from '../../workflows/interpreter/host.ts';
import { record, type Walk } from '../../workflows/interpreter/ledger.ts';
import { drive } from '../../workflows/interpreter/drive.ts';
import { nestedInput, nestedReply } from '../../workflows/interpreter/nested.ts';
import { resultOf, type RunResult } from '../../workflows/interpreter/outcome.ts';
import { firstPosition, type Position } from '../../workflows/interpreter/position.ts';
import { textFieldsOf } from '../../workflows/interpreter/program.ts';
import { rootStrand, walkStrand } from '../../workflows/interpreter/walk.ts';
import { replyTo, type Interruption, type Script } from './script.ts';
import { runScriptedSegment } from './scripted-segment.ts';
import { Scope, type Simulation } from './simulation.ts';
import { throughJson } from './through-json.ts';

export interface Mode {
  name: string;
  /** Continue as new after this many steps. */
  yieldEvery?: number;
  segments?: boolean;
  /** Steps without an effect before a segment takes over. */
  pureStepsMax?: number;
}

/** What all runs of one scripted tree share. */
export interface World {
  simulation: Simulation;
  script: Script;
  mode: Mode;
  /** Every run that was started, in order. */
  runs: ScriptedHost[];
  /** Every effect that was asked for, by the key of its run and step. */
  effects: { key: string; effect: Effect }[];
}

const holdMs = 10;
const scopes = new AsyncLocalStorage<Scope>();

export class ScriptedHost implements Host {
  readonly events: RunEvent[] = [];
  /** Results of the run's segments, by their keys. */
  readonly journal = new Map<string, Json>();
  result: RunResult | null = null;
  /** Times the run continued as new. */
  continued = 0;
  walk: Walk;
  private readonly world: World;
  private readonly root = new Scope();
  private readonly children = new Set<ScriptedHost>();
  private waiting: (() => void)[] = [];
  private stepsBefore = 0;
  private pureSteps = 0;

  constructor(world: World, input: RunInput) {
    this.world = world;
    this.walk = this.walkFrom(input, firstPosition(input.startedAt));
    world.runs.push(this);
  }

  private walkFrom(input: RunInput, position: Position): Walk {
    return { input, position, host: this, textFields: textFieldsOf(input.definition) };
  }

  async run(): Promise<RunResult> {
    const flow = await scopes.run(this.root, () => this.walkToEnd());
    const { input, position } = this.walk;
    this.result = resultOf(flow, position, this.now(), input.startedAt, input.parent !== null);
    if (flow.kind === 'cancelled') this.cancel();
    return this.result;
  }

  private async walkToEnd(): Promise<Flow> {
    for (;;) {
      const flow = await drive(walkStrand(this.walk, rootStrand(this.walk)), () => undefined);
      if (flow.kind !== 'yield') return flow;
      this.continued += 1;
      this.walk = this.walkFrom(throughJson(this.walk.input), throughJson(this.walk.position));
      this.stepsBefore = this.walk.position.steps;
    }
  }

  /** The step's key, behind the keys of the nested runs that lead to it. */
  keyOf(key: string): string {
    const [, ...nested] = this.walk.input.handle.split('/');
    return [...nested, key].join('/');
  }

  now(): number {
    return this.world.simulation.now;
  }

  async gate(_strand: Strand, key: string, step: Step): Promise<Gate> {
    this.interrupt(key, 'before');
    const held = this.interruption() ?? (await this.untilResumed());
    if (held) return held;
    const { yieldEvery, segments, pureStepsMax = 500 } = this.world.mode;
    if (yieldEvery !== undefined && this.walk.position.steps - this.stepsBefore >= yieldEvery) return 'yield';
    if (segments !== true || this.walk.input.definition.durability === 'step') return 'go';
    if (isQuick(step)) return 'segment';
    const isPure = step.type === 'condition' || step.type === 'loop' || step.type === 'parallel';
    this.pureSteps = isPure ? this.pureSteps + 1 : 0;
    return this.pureSteps >= pureStepsMax ? 'segment' : 'go';
  }

  private interruption(): Gate | null {
    if (this.root.cancelled || scopes.getStore()?.cancelled === true) return 'cancel';
    return this.walk.position.stopping ? 'stop' : null;
  }

  private async untilResumed(): Promise<Gate | null> {
    while (this.walk.position.paused !== null && this.interruption() === null) {
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
        scopes.getStore()?.onCancel(resolve);
      });
    }
    return this.interruption();
  }

  private interrupt(key: string, when: 'before' | 'during'): void {
    for (const entry of this.world.script.interruptionsAt(this.keyOf(key), when)) {
      if (when === 'before') this.apply(entry);
      else this.world.simulation.schedule(0, () => this.apply(entry));
    }
  }

  private apply(entry: Interruption): void {
    switch (entry.do) {
      case 'pause':
        this.pause('asked');
        this.world.simulation.schedule(entry.forMs ?? holdMs, () => this.resume());
        return;
      case 'stop':
        return this.stop();
      case 'cancel':
        return this.cancel();
      default:
        return entry.do satisfies never;
    }
  }

  private pause(reason: string): void {
    const { position } = this.walk;
    if (position.paused !== null || position.stopping) return;
    position.paused = { reason, since: this.now() };
    record(this.walk, { type: 'paused', key: '', reason });
    for (const child of this.children) child.pause('the run that started this one is paused');
  }

  private resume(): void {
    const { position } = this.walk;
    if (position.paused === null) return;
    position.pausedMs += this.now() - position.paused.since;
    position.paused = null;
    record(this.walk, { type: 'resumed', key: '' });
    this.wake();
    for (const child of this.children) child.resume();
  }

  private stop(): void {
    this.resume();
    this.walk.position.stopping = true;
    this.wake();
    for (const child of this.children) child.stop();
  }

  private cancel(): void {
    this.root.cancel();
    for (const child of this.children) child.cancel();
  }

  private wake(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }

  async perform(_strand: Strand, effect: Effect): Promise<Reply> {
    const key = this.keyOf(effect.key);
    this.world.effects.push({ key, effect });
    this.interrupt(effect.key, 'during');
    const scope = scopes.getStore() ?? this.root;
    for (let attempt = 1; ; attempt += 1) {
      const scripted = this.world.script.find(key, effect);
      if (scripted === null && effect.type === 'sentinel') return this.runNested(effect, scope);
      if (!(await this.world.simulation.after(scripted?.tookMs ?? 1, scope))) return { ok: false, cancelled: true };
      const reply = replyTo(effect, scripted);
      if (reply.ok || attempt >= (effect.retry?.attempts ?? 1)) return reply;
    }
  }

  /** The same answers as a child workflow's. */
  private async runNested(effect: NestedEffect, scope: Scope): Promise<Reply> {
    const child = new ScriptedHost(this.world, nestedInput(this.walk, effect));
    this.children.add(child);
    const running = child.run();
    if (!effect.wait) return { ok: true, value: { handle: child.walk.input.handle } };
    scope.onCancel(() => child.cancel());
    const result = await running;
    this.children.delete(child);
    if (scope.cancelled) return { ok: false, cancelled: true };
    return nestedReply(effect.key, result);
  }

  segment(strand: Strand, key: string): Promise<SegmentReport> {
    const scope = scopes.getStore() ?? this.root;
    const { position } = this.walk;
    this.pureSteps = 0;
    const every = this.world.mode.yieldEvery;
    const stepsLeft = every === undefined ? undefined : Math.max(1, every - (position.steps - this.stepsBefore));
    return runScriptedSegment({ world: this.world, host: this, strand, key, scope, stepsLeft });
  }

  suspended(): void {}

  async hold(reason: string): Promise<Gate> {
    if (this.walk.position.paused === null) {
      this.pause(reason);
      const answer = this.world.script.nextHold();
      this.world.simulation.schedule(holdMs, () => (answer === 'resume' ? this.resume() : this.apply({ at: '', do: answer })));
    }
    return (await this.untilResumed()) ?? 'go';
  }

  async rest(_key: string, ms: number): Promise<Gate> {
    await this.world.simulation.after(ms, scopes.getStore() ?? this.root);
    return this.interruption() ?? 'go';
  }

  fork(strand: Strand, walk: () => Promise<Flow>): { flow: Promise<Flow>; cancel: () => void } {
    const scope = new Scope(scopes.getStore());
    const cancel = (): void => {
      strand.cancelled = true;
      scope.cancel();
    };
    return { flow: scopes.run(scope, walk), cancel };
  }

  record(event: RunEvent): void {
    this.events.push(event);
  }
}
