/**
 * The graph of a run: its definition as it was edited, with what each step did laid over it. Steps that
 * stand no longer are drawn where they stood, if they ran.
 */
import { withBlocks, withSteps } from '../blocks.ts';
import type { Definition, Step } from '../model.ts';
import { graphOf } from './draw.ts';
import type { Graph, GraphNode } from './graph.ts';
import type { StepState } from './run-states.ts';
import type { Entry, RunTree, Standing } from './run-tree.ts';
import { defined } from '../defined.ts';

/** What is laid over the node that is drawn at a path. */
interface Overlay {
  /** The step's path in the run; the drawn one counts what stands no longer. */
  path: string;
  state?: StepState;
  change?: GraphNode['change'];
}

export function drawRunTree({ root }: RunTree, known: (name: string) => Definition | undefined): Graph {
  const overlays = new Map<string, Overlay>();
  const { definition } = root.entry;
  if (definition === undefined) throw new Error('bug: a run without a definition');
  overlays.set('run', { path: 'run', ...stateIn(root.entry.run) });
  const drawn = withSteps(definition, (name) =>
    drawnSteps(overlays, { entry: root.entry, standing: root, isGone: false, block: name, drawn: '', path: '' }),
  );
  return laidOver(graphOf(drawn, { knownRefs: known }), overlays);
}

interface Block {
  entry: Entry;
  /** How the entry stands; undefined for one that stands no longer. */
  standing: Standing | undefined;
  /** Whether it was taken out, or what holds it. What only an earlier run of a nested definition had was not. */
  isGone: boolean;
  /** The block's name inside the entry. */
  block: string;
  /** What the paths of the block begin with, as drawn and in the run. */
  drawn: string;
  path: string;
}

function drawnSteps(
  overlays: Map<string, Overlay>,
  { entry, standing, isGone, block, drawn, path }: Block,
): Step[] | undefined {
  const standings = standing?.blocks.get(block) ?? [];
  const entries = entry.blocks.get(block);
  if (entries === undefined) return undefined;
  const called = block.replace(/^definition\./, '');
  const shown = entries.filter((inner) => standings.some((other) => other.entry === inner) || hasRun(inner));
  return shown.map((inner, index) => {
    const at = standings.findIndex((other) => other.entry === inner);
    const gone = isGone || (at === -1 && (inner.change === 'removed' || inner.change === 'replaced'));
    return drawnStep(overlays, inner, standings[at], {
      isGone: gone,
      drawn: `${drawn}${called}.${index}`,
      path: `${path}${called}.${at === -1 ? (inner.was ?? index) : at}`,
    });
  });
}

function drawnStep(
  overlays: Map<string, Overlay>,
  entry: Entry,
  standing: Standing | undefined,
  { isGone, drawn, path }: Pick<Block, 'isGone' | 'drawn' | 'path'>,
): Step {
  const { step, state, definition, newest, run } = entry;
  if (step === null) throw new Error('bug: a run is no step');
  overlays.set(drawn, { path, ...stateIn(state), ...changeOf(entry, isGone) });
  const isNested = step.type === 'sentinel';
  if (isNested) overlays.set(`${drawn}/run`, { path: `${path}/run`, ...stateIn(run) });
  const mark = isNested ? '/' : '.';
  const inside = newest === undefined || standing === undefined ? standing : newest;
  return withBlocks(step, definition, (block) =>
    drawnSteps(overlays, { entry, standing: inside, isGone, block, drawn: `${drawn}${mark}`, path: `${path}${mark}` }),
  );
}

const stateIn = (state: StepState | undefined): { state?: StepState } => (state === undefined ? {} : { state });

function changeOf({ change }: Entry, isGone: boolean): Pick<Overlay, 'change'> {
  if (isGone) return { change: change === 'replaced' ? 'replaced' : 'removed' };
  return change === 'added' || change === 'updated' ? { change } : {};
}

function hasRun({ state, run, blocks }: Entry): boolean {
  return state !== undefined || run !== undefined || [...blocks.values()].some((inner) => inner.some(hasRun));
}

function laidOver(graph: Graph, overlays: ReadonlyMap<string, Overlay>): Graph {
  const taken = new Map<string, NonNullable<StepState['taken']>>();
  const nodes = graph.nodes.map((node) => {
    const overlay = overlays.get(node.path);
    if (overlay === undefined) return node;
    const { path, state, change } = overlay;
    if (state?.taken !== undefined) taken.set(node.id, state.taken);
    const isMark = node.kind === 'join' || node.kind === 'end';
    return { ...node, path, ...(isMark ? {} : { ...stateIn(state), ...defined({ change }) }) };
  });
  const edges = graph.edges.map((edge) => {
    const counts = taken.get(edge.from);
    const times = edge.label === 'yes' ? counts?.then : edge.label === 'no' ? counts?.else : undefined;
    return times === undefined ? edge : { ...edge, label: `${edge.label} · ${times}×` };
  });
  return { ...graph, nodes, edges };
}
