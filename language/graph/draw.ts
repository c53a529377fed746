/** From a definition to its graph: each kind of step says where it is entered and where it is left. */
import { linesOf } from '../blocks.ts';
import { describeLoop } from './describe-loop.ts';
import { Canvas, type Exit, type Graph } from './graph.ts';
import { labelOfStep, shortened } from './step-label.ts';
import { inputNames } from '../inputs/declared-inputs.ts';
import type { ConditionStep, Definition, LoopConfig, LoopStep, ParallelStep, SentinelStep, Step } from '../model.ts';

export interface DrawOptions {
  /** Definitions that `$ref`s name; one that is not found is drawn as a single node. */
  knownRefs?: (name: string) => Definition | undefined;
}

/** References into references that are followed; the reader has refused circles, and this bounds the rest. */
const depthMax = 8;

/** Nodes that references may add; what is beyond stands as a single node. */
const nodesMax = 2_000;

export function graphOf(definition: Definition, options: DrawOptions = {}): Graph {
  const draw = new Draw(options);
  draw.definition(definition, '', null, 0);
  const { nodes, groups, edges } = draw.canvas;
  return { name: definition.name, nodes, groups, edges };
}

/** What a definition declares by a schema: plain inputs are the variables that it begins with. */
const takenBy = ({ inputSchema }: Definition): string[] =>
  inputSchema === undefined ? [] : inputNames({ inputSchema });

const withNames = (word: string, names: readonly string[]): string =>
  names.length === 0 ? word : `${word} · ${shortened(names.join(', '))}`;

class Draw {
  readonly canvas = new Canvas();
  readonly #known: (name: string) => Definition | undefined;
  /** Steps that fail so far: nothing follows them but a clean-up around them. */
  readonly #failing: Exit[] = [];

  constructor({ knownRefs }: DrawOptions) {
    this.#known = knownRefs ?? (() => undefined);
  }

  /** From its start to its end; `prefix` is the path of the sentinel step around it, with a slash. */
  definition(
    definition: Definition,
    prefix: string,
    group: string | null,
    depth: number,
  ): { start: string; end: string } {
    const { canvas } = this;
    const failing = this.#failing.length;
    const start = canvas.node(`${prefix}run`, 'start', withNames(definition.name, takenBy(definition)), group);
    const body = (within: string | null, before: readonly Exit[]): Exit[] =>
      this.#block(definition.steps, `${prefix}steps`, within, before, depth);
    let exits = this.#loop(definition.loop, `${prefix}run`, group, [{ from: start }], body);
    if (definition.always !== undefined) {
      const within = canvas.group(`${prefix}run`, 'always', 'always, however it ends', group);
      const before = [...exits, ...this.#failing.slice(failing)];
      exits = this.#block(definition.always, `${prefix}always`, within, before, depth);
    }
    const failed = this.#failing.splice(failing);
    if (exits.length === 0) exits = failed;
    const end = canvas.node(`${prefix}run`, 'end', withNames('end', Object.keys(definition.outputs ?? {})), group);
    canvas.join(exits, end);
    return { start, end };
  }

  #block(steps: readonly Step[], path: string, group: string | null, before: readonly Exit[], depth: number): Exit[] {
    let exits = [...before];
    steps.forEach((step, index) => {
      const failing = this.#failing.length;
      exits = this.#step(step, `${path}.${index}`, group, exits, depth);
      // What fails inside a step that is passed over goes on behind it.
      if (step.onError === 'skip') exits = [...exits, ...this.#failing.splice(failing)];
    });
    return exits;
  }

  #step(step: Step, path: string, group: string | null, before: readonly Exit[], depth: number): Exit[] {
    switch (step.type) {
      case 'condition':
        return this.#condition(step, path, group, before, depth);
      case 'loop':
        return this.#loopStep(step, path, group, before, depth);
      case 'parallel':
        return this.#parallel(step, path, group, before, depth);
      case 'sentinel':
        return this.#sentinel(step, path, group, before, depth);
      case 'shell':
      case 'command':
      case 'llm':
      case 'watch':
      case 'emit':
      case 'approval':
      case 'fail':
      case 'set':
      case 'sleep':
      case 'join':
        return this.#leaf(step, path, group, before);
      default:
        return step satisfies never;
    }
  }

  #leaf(step: Step, path: string, group: string | null, before: readonly Exit[]): Exit[] {
    const kind = step.type === 'join' ? 'runs' : step.type;
    const node = this.canvas.node(path, kind, labelOfStep(step), group);
    this.canvas.join(before, node);
    const exit = { from: node };
    if (step.type !== 'fail') return [exit];
    this.#failing.push(exit);
    return [];
  }

  #condition(step: ConditionStep, path: string, group: string | null, before: readonly Exit[], depth: number): Exit[] {
    const failing = this.#failing.length;
    const node = this.canvas.node(path, 'condition', labelOfStep(step), group);
    this.canvas.join(before, node);
    const exits = [
      ...this.#block(step.then ?? [], `${path}.then`, group, [{ from: node, label: 'yes' }], depth),
      ...this.#block(step.else ?? [], `${path}.else`, group, [{ from: node, label: 'no' }], depth),
    ];
    if (step.always === undefined) return exits;
    const within = this.canvas.group(path, 'always', 'always, after either', group);
    return this.#block(step.always, `${path}.always`, within, [...exits, ...this.#failing.slice(failing)], depth);
  }

  #loopStep(step: LoopStep, path: string, group: string | null, before: readonly Exit[], depth: number): Exit[] {
    const name = step.name === undefined ? '' : `${step.name} · `;
    return this.#loop(
      step.loop,
      path,
      group,
      before,
      (within, exits) => this.#block(step.steps, `${path}.steps`, within, exits, depth),
      name,
      true,
    );
  }

  /** A head that decides on each pass, the body in a group, and the way back. One pass needs no head. */
  #loop(
    loop: LoopConfig,
    path: string,
    group: string | null,
    before: readonly Exit[],
    body: (within: string | null, before: readonly Exit[]) => Exit[],
    name = '',
    isStep = false,
  ): Exit[] {
    if (loop.type === 'once' && !isStep) return body(group, before);
    const { canvas } = this;
    const within = canvas.group(path, 'loop', `${name}${loop.type}`, group);
    const head = canvas.node(path, 'loop', `${name}${describeLoop(loop)}`, within);
    canvas.join(before, head);
    const last = body(within, [{ from: head, label: 'pass' }]);
    if (loop.type === 'once') return last;
    canvas.join(
      last.map((exit) => ({ ...exit, kind: 'back' as const })),
      head,
    );
    return [{ from: head, label: 'done' }];
  }

  #parallel(step: ParallelStep, path: string, group: string | null, before: readonly Exit[], depth: number): Exit[] {
    const { canvas } = this;
    const within = canvas.group(path, 'parallel', labelOfStep(step), group);
    const fork = canvas.node(path, 'fork', 'fork', within);
    canvas.join(before, fork);
    const exits = linesOf(step).flatMap(({ key, steps }) =>
      this.#block(
        steps,
        `${path}.${key}`,
        within,
        [step.over === undefined ? { from: fork } : { from: fork, label: 'item' }],
        depth,
      ),
    );
    const join = canvas.node(path, 'join', 'join', within);
    canvas.join(linesOf(step).every(({ steps }) => steps.length === 0) ? [{ from: fork }] : exits, join);
    return [{ from: join }];
  }

  #sentinel(step: SentinelStep, path: string, group: string | null, before: readonly Exit[], depth: number): Exit[] {
    const { canvas } = this;
    const node = canvas.node(path, 'sentinel', labelOfStep(step), group);
    canvas.join(before, node);
    const definition = '$ref' in step.definition ? this.#known(step.definition.$ref) : step.definition;
    if (definition === undefined || depth >= depthMax || canvas.nodes.length > nodesMax) return [{ from: node }];
    const within = canvas.group(path, 'sentinel', definition.name, group);
    const { start, end } = this.definition(definition, `${path}/`, within, depth + 1);
    const isAwaited = step.await !== false;
    canvas.join([{ from: node, ...(isAwaited ? {} : { label: 'not awaited' }) }], start, isAwaited ? 'next' : 'apart');
    return [{ from: isAwaited ? end : node }];
  }
}
