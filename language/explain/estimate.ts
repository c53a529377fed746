/**
 * How much history a run makes: what a pass costs, from the cheapest way through the steps to the
 * dearest, and how often the run continues as new. What steps print and return is not known
 * beforehand and comes on top; values over 32 KiB never do.
 */
import { isQuickFan, linesOf } from '../blocks.ts';
import { findCommand, type Catalogue } from '../catalogue.ts';
import type { Definition, LoopConfig, LoopStep, ParallelStep, SentinelStep, ShellStep, Step } from '../model.ts';
import { segmentStepsMax } from '../limits.ts';
import * as measured from './measured.ts';
import type { Cost } from './measured.ts';

export interface Estimate {
  /** Start, end and clean-up of the run. */
  once: Cost;
  /** One pass of the run's own loop. */
  pass: { least: Cost; most: Cost };
  /** Passes until the server suggests to continue as new; null when one history holds any number. */
  passesPerHistory: { least: number; most: number } | null;
  /** Passes the run may make, where its definition says; null otherwise. */
  passesMax: number | null;
  /** How often the run continues as new at most; null when its passes are not known. */
  continuesAsNew: number | null;
  /** What had to be assumed, one sentence each. */
  assumptions: string[];
}

type Way = 'least' | 'most';

/** A line of execution while it is counted: whether a segment is open, and what came together. */
interface Line {
  inSegment: boolean;
  quick: number;
  cost: Cost;
}

const encoder = new TextEncoder();
const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value) ?? '').length;

const plus = (left: Cost, right: Cost, times = 1): Cost => ({
  events: left.events + right.events * times,
  bytes: left.bytes + right.bytes * times,
});
const nothing: Cost = { events: 0, bytes: 0 };

export function estimateOf(definition: Definition, catalogue: Catalogue): Estimate {
  const assumptions = new Set<string>();
  const count = new Count(definition, assumptions, catalogue);
  const least = count.passOf('least');
  const most = count.passOf('most');
  const once = plus(
    plus({ ...measured.runStart, bytes: measured.runStart.bytes + bytesOf(definition) }, measured.runEnd),
    count.clean(),
  );
  const carried = plus({ ...measured.continuation, bytes: measured.continuation.bytes + bytesOf(definition) }, once);
  const passesMax = passesOf(definition);
  const perHistory = { least: passesIn(most, carried), most: passesIn(least, carried) };
  const isEndless = most.events === 0 && most.bytes === 0;
  return {
    once,
    pass: { least, most },
    passesPerHistory: isEndless ? null : perHistory,
    passesMax,
    continuesAsNew:
      passesMax === null ? null : isEndless ? 0 : Math.max(0, Math.ceil(passesMax / perHistory.least) - 1),
    assumptions: [...assumptions],
  };
}

function passesIn(pass: Cost, carried: Cost): number {
  const byEvents = (measured.historyEventsMax - carried.events) / Math.max(1, pass.events);
  const byBytes = (measured.historyBytesMax - carried.bytes) / Math.max(1, pass.bytes);
  return Math.max(1, Math.floor(Math.min(byEvents, byBytes)));
}

function passesOf({ loop, safety }: Definition): number | null {
  if (loop.type === 'once') return 1;
  const bounds = [loop.max, loop.maxIterations, safety?.maxIterations].filter((bound) => typeof bound === 'number');
  return bounds.length === 0 ? null : Math.min(...bounds);
}

class Count {
  readonly #definition: Definition;
  readonly #assumptions: Set<string>;
  readonly #segments: boolean;
  readonly #catalogue: Catalogue;

  constructor(definition: Definition, assumptions: Set<string>, catalogue: Catalogue) {
    this.#catalogue = catalogue;
    this.#definition = definition;
    this.#assumptions = assumptions;
    this.#segments = definition.durability !== 'step';
  }

  /** A pass in the middle: the first one may open a segment that the others go on in. */
  passOf(way: Way): Cost {
    const { loop, steps } = this.#definition;
    const rests = loop.type === 'continuous' && (loop.intervalMs ?? 0) > 0;
    const one = (line: Line): void => {
      if (rests) this.#durable(line, measured.timer);
      if (loop.type === 'event') this.#durable(line, measured.arrival);
      this.#block(steps, line, way);
    };
    const line: Line = { inSegment: false, quick: 0, cost: nothing };
    one(line);
    if (loop.type === 'once') return line.cost;
    const before = line.cost;
    const quickBefore = line.quick;
    one(line);
    const pass = { events: line.cost.events - before.events, bytes: line.cost.bytes - before.bytes };
    // Passes that never leave their segment still begin a new one every so many steps.
    const quick = line.quick - quickBefore;
    return pass.events === 0 && quick > 0 ? plus(pass, measured.segment, quick / segmentStepsMax) : pass;
  }

  clean(): Cost {
    const line: Line = { inSegment: false, quick: 0, cost: nothing };
    this.#block(this.#definition.always ?? [], line, 'most');
    return line.cost;
  }

  #block(steps: readonly Step[], line: Line, way: Way): void {
    for (const step of steps) this.#step(step, line, way);
  }

  #durable(line: Line, cost: Cost, text = 0): void {
    line.inSegment = false;
    line.cost = plus(line.cost, { events: cost.events, bytes: cost.bytes + text });
  }

  #quick(line: Line): void {
    if (!line.inSegment) line.cost = plus(line.cost, measured.segment);
    line.inSegment = true;
    line.quick += 1;
    line.cost = plus(line.cost, measured.segmentStep);
  }

  #step(step: Step, line: Line, way: Way): void {
    switch (step.type) {
      case 'condition':
        return this.#condition(step, line, way);
      case 'loop':
        return this.#loop(step, line, way);
      case 'parallel':
        return this.#parallel(step, line, way);
      case 'sentinel':
        return this.#nested(step, line);
      case 'approval':
        return this.#durable(line, measured.answer);
      case 'sleep':
        return this.#durable(line, measured.timer);
      case 'join':
        return this.#durable(line, measured.arrival);
      case 'fail':
      case 'set':
        return this.#plain(line);
      case 'shell':
        return this.#shell(step, line, way);
      case 'llm':
        return this.#durable(line, measured.activity, bytesOf([step.prompt, step.system, step.schema]) - 13);
      case 'watch':
        return this.#durable(line, step.event === undefined ? measured.activity : measured.arrival);
      case 'command':
      case 'emit':
        return this.#segments && isInSegment(step, this.#catalogue)
          ? this.#quick(line)
          : this.#durable(line, measured.activity, bytesOf(step.type === 'emit' ? step.data : step.params));
      default:
        step satisfies never;
    }
  }

  /** One that ends soon is a step of a segment, where it may begin in one. */
  #shell(step: ShellStep, line: Line, way: Way): void {
    const isBegun = this.#segments && isInSegment(step, this.#catalogue);
    if (isBegun) this.#quick(line);
    if (isBegun && way === 'least') return;
    if (isBegun) this.#assumptions.add('at most, each shell step takes so long that it becomes an activity of its own');
    this.#durable(line, measured.activity, bytesOf([step.command, step.args, step.env]) - 13);
  }

  /** What asks nothing of the world costs nothing by itself; in a segment it is one of its steps. */
  #plain(line: Line): void {
    if (line.inSegment) this.#quick(line);
  }

  #condition(step: Extract<Step, { type: 'condition' }>, line: Line, way: Way): void {
    this.#plain(line);
    const ways = [step.then ?? [], step.else ?? []].map((steps) => {
      const own = { ...line };
      this.#block(steps, own, way);
      return own;
    });
    const [first = line, second = line] = ways.toSorted((a, b) => a.cost.bytes - b.cost.bytes);
    Object.assign(line, way === 'least' ? first : second);
    this.#block(step.always ?? [], line, way);
  }

  /** One segment walks the branches that it can; each goes on by itself where it comes to a long step. */
  #parallel(step: ParallelStep, line: Line, way: Way): void {
    const isWalked =
      line.inSegment || (this.#segments && isQuickFan(step, (inner) => isInSegment(inner, this.#catalogue)));
    if (isWalked) this.#quick(line);
    if (step.over !== undefined && way !== 'least')
      this.#assumptions.add(`the list ${step.over} has 1 item; how many it has is known only when it runs`);
    const lines = step.over !== undefined && way === 'least' ? [] : linesOf(step);
    const branches = lines.map(({ steps }) => {
      const own: Line = { inSegment: isWalked, quick: 0, cost: nothing };
      this.#block(steps, own, way);
      return own;
    });
    line.inSegment = isWalked && branches.every(({ cost }) => cost.events === 0);
    for (const { cost, quick } of branches) {
      line.cost = plus(line.cost, cost);
      line.quick += quick;
    }
  }

  #loop(step: LoopStep, line: Line, way: Way): void {
    const passes = this.#passes(step, way);
    const rests = step.loop.type === 'continuous' && (step.loop.intervalMs ?? 0) > 0;
    const before: Array<{ cost: Cost; quick: number }> = [];
    for (let pass = 0; pass < Math.min(passes, 2); pass += 1) {
      before.push({ cost: line.cost, quick: line.quick });
      if (rests) this.#durable(line, measured.timer);
      this.#block(step.steps, line, way);
    }
    const second = before[1];
    if (second === undefined || passes <= 2) return;
    const each = { events: line.cost.events - second.cost.events, bytes: line.cost.bytes - second.cost.bytes };
    const quick = line.quick - second.quick;
    line.cost = plus(line.cost, each, passes - 2);
    line.quick += quick * (passes - 2);
    if (each.events === 0)
      line.cost = plus(line.cost, measured.segment, Math.floor((quick * passes) / segmentStepsMax));
  }

  #passes({ loop, name }: LoopStep, way: Way): number {
    if (loop.type === 'once') return 1;
    if (loop.type === 'count' && typeof loop.max === 'number')
      return Math.min(loop.max, loop.maxIterations ?? loop.max);
    const bounds = [loop.max, loop.maxIterations].filter((bound) => typeof bound === 'number');
    if (way === 'least') return loop.type === 'until' ? 1 : 0;
    if (bounds.length > 0) return Math.min(...bounds);
    this.#assumptions.add(
      `the loop ${name ?? describeUnknown(loop)} makes 1 pass: how many it will make, only the run knows`,
    );
    return 1;
  }

  #nested(step: SentinelStep, line: Line): void {
    this.#assumptions.add('a nested run has a history of its own, which is not counted here');
    const text = '$ref' in step.definition ? 300 : bytesOf(step.definition);
    this.#durable(line, measured.childStart, text + bytesOf(step.inputs ?? {}));
    if (step.await !== false) this.#durable(line, measured.childEnd);
  }
}

function describeUnknown(loop: Exclude<LoopConfig, { type: 'once' }>): string {
  return loop.max === undefined ? `(${loop.type})` : `(${loop.type}, ${loop.max} passes)`;
}

/** Quick and shell steps can share a segment; one with retries is an activity of its own. */
function isInSegment(step: Step, catalogue: Catalogue): boolean {
  if (step.retry !== undefined || step.onError === 'retry') return false;
  if (step.type === 'emit' || step.type === 'shell') return true;
  return step.type === 'command' && findCommand(catalogue, step.command)?.speed === 'quick';
}
