/** An agent segment of a scripted run: what it is asked and what it reports travel as JSON. */
import { isQuick } from '../build-effect.ts';
import { drive } from '../drive.ts';
import type { Reply, RunBudget } from '../effect.ts';
import {
  PassingHost,
  type AgentAt,
  type AgentReport,
  type Gate,
  type Host,
  type RestEnd,
  type Strand,
} from '../host.ts';
import type { Step } from '../../language/model.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { defined } from '../../language/defined.ts';
import { converse } from '../models/model-step.ts';
import { firstPosition } from '../position.ts';
import { isTold } from '../models/telling.ts';
import type { Verdict, Allowed } from '../verdict.ts';
import { heldMs, type Walk } from '../walk-state.ts';
import { throughJson } from '../../language/json.ts';

class ScriptedAgent extends PassingHost implements Host {
  readonly #walk: Walk;

  constructor(walk: Walk) {
    super();
    this.#walk = walk;
  }

  now(): number {
    return this.#walk.host.now();
  }

  /** What the run is told meanwhile is heard between turns. */
  gate(strand: Strand, key: string, step: Step, isOpen: boolean): Gate | Promise<Gate> {
    if (!isOpen && isTold(this.#walk.position, key)) return 'yield';
    const gate = this.#walk.host.gate(strand, key, step, isOpen);
    return gate === 'go' || gate === 'cancel' ? gate : 'yield';
  }

  perform(strand: Strand, allowed: Allowed): Promise<Reply> {
    return this.#walk.host.perform(strand, allowed);
  }

  override judged(key: string, verdicts: readonly Verdict[]): void {
    this.#walk.host.judged(key, verdicts);
  }

  override performs(step: Step): boolean {
    return isQuick(step, this.#walk.input.catalogue, this.#walk.input.limits);
  }

  override rest(): Promise<RestEnd> {
    return Promise.resolve('carry');
  }

  segment(): never {
    throw new Error('bug: a segment begins inside an agent segment');
  }

  record(event: RunEvent): void {
    const { position } = this.#walk;
    position.seq += 1;
    this.#walk.host.record({ ...event, seq: position.seq });
  }
}

export async function runScriptedAgent(
  outer: Walk,
  strand: Strand,
  at: AgentAt,
  budget?: RunBudget,
): Promise<AgentReport> {
  const { input, position } = outer;
  const { step, place, open } = throughJson(at);
  const walk: Walk = {
    ...outer,
    input: { ...input, limits: { ...input.limits, ...defined({ budget }) } },
    position: {
      ...firstPosition(0),
      loop: position.loop,
      pausedMs: heldMs(outer),
      extensions: position.extensions,
    },
    host: new ScriptedAgent(outer),
  };
  const halt = await drive(converse({ walk, strand, step, place, open }), () => undefined);
  return throughJson({
    open,
    halt: 'flow' in halt && halt.flow.kind === 'yield' ? null : halt,
    steps: walk.position.steps,
    ...defined({ spent: walk.position.spent }),
  });
}
