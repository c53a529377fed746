/**
 * A definition as a graph: what people see when they ask how it goes. Built from the canonical form
 * alone; what a run did is laid over it (`draw-run.ts`), and `mermaid.ts` writes it down.
 *
 * - A node's `path` is the place of its step in the definition; a nested sentinel's steps carry the
 *   path of the step that holds it and a slash (`steps.2/steps.0`), as handles of nested runs do.
 * - What an edit took out of a run has the path it had there, so a path may be there twice; an id is not.
 * - Every edge joins two nodes; groups only say which nodes belong together.
 */
import type { StepState } from './run-states.ts';
import type { StepChange } from './run-tree.ts';
import type { StepType } from '../model.ts';
import { defined } from '../defined.ts';

/** `join` is where branches meet; a step of that type is of the kind `runs`, which it waits for. */
export type NodeKind = Exclude<StepType, 'join'> | 'runs' | 'start' | 'end' | 'fork' | 'join';

export interface GraphNode {
  id: string;
  path: string;
  kind: NodeKind;
  label: string;
  /** The group it stands in; null for the outermost. */
  group: string | null;
  state?: StepState;
  /** What an edit made of the step while the run went on. */
  change?: StepChange;
}

export interface GraphGroup {
  id: string;
  kind: 'loop' | 'parallel' | 'sentinel' | 'always';
  label: string;
  group: string | null;
}

export interface GraphEdge {
  from: string;
  to: string;
  kind: 'next' | 'back' | 'apart';
  label?: string;
}

export interface Graph {
  name: string;
  nodes: GraphNode[];
  groups: GraphGroup[];
  edges: GraphEdge[];
}

/** A place that the next step is joined to. */
export interface Exit {
  from: string;
  label?: string;
  kind?: GraphEdge['kind'];
}

/** A graph while it is drawn. */
export class Canvas {
  readonly nodes: GraphNode[] = [];
  readonly groups: GraphGroup[] = [];
  readonly edges: GraphEdge[] = [];

  node(path: string, kind: NodeKind, label: string, group: string | null): string {
    const role = kind === 'start' || kind === 'end' || kind === 'fork' || kind === 'join' ? `_${kind}` : '';
    const id = `${idOf(path)}${role}`;
    this.nodes.push({ id, path, kind, label, group });
    return id;
  }

  group(path: string, kind: GraphGroup['kind'], label: string, group: string | null): string {
    const id = `${idOf(path)}_${kind}`;
    this.groups.push({ id, kind, label, group });
    return id;
  }

  join(exits: readonly Exit[], to: string, kind: GraphEdge['kind'] = 'next'): void {
    for (const { from, label, kind: own } of exits)
      this.edges.push({ from, to, kind: own ?? kind, ...defined({ label }) });
  }
}

/** Letters, digits and `_` alone, so that an id is never taken for a word of a diagram's language. */
function idOf(path: string): string {
  return `n_${path.replaceAll('.', '_').replaceAll('/', '__')}`;
}
