/**
 * A graph as Mermaid text (flowchart). Labels hold what authors wrote, so nothing in them may be taken
 * for Mermaid, for HTML, for mathematics or for a directive: every label is quoted, and whatever is not
 * plain in a quoted label stands as its number (`#34;`).
 */
import { costWords } from '../events/event-words.ts';
import type { Graph, GraphEdge, GraphGroup, GraphNode, NodeKind } from './graph.ts';
import { durationWords } from './describe-loop.ts';
import type { StepState } from './run-states.ts';

/** What stands around the label of each kind of node. */
const SHAPES: Readonly<Record<NodeKind, readonly [string, string]>> = {
  start: ['([', '])'],
  end: ['([', '])'],
  fork: ['((', '))'],
  join: ['((', '))'],
  shell: ['[', ']'],
  command: ['[', ']'],
  llm: ['(', ')'],
  emit: ['>', ']'],
  watch: ['[/', '/]'],
  approval: ['[\\', '\\]'],
  fail: ['[', ']'],
  set: ['[', ']'],
  sleep: ['[', ']'],
  runs: ['[/', '/]'],
  condition: ['{', '}'],
  loop: ['{{', '}}'],
  parallel: ['[', ']'],
  sentinel: ['[[', ']]'],
};

/** Kinds whose shape does not say what they are. */
const SPOKEN: ReadonlySet<NodeKind> = new Set([
  'shell',
  'command',
  'llm',
  'emit',
  'watch',
  'approval',
  'sentinel',
  'fail',
  'sleep',
  'runs',
]);

const ARROWS: Readonly<Record<GraphEdge['kind'], string>> = { next: '-->', back: '-.->', apart: '-.->' };

/** The colours of a run's steps; `waiting` is what it has not reached, `gone` what an edit took out. */
const CLASSES: Readonly<Record<StepState['outcome'] | 'waiting' | 'gone', string>> = {
  ok: 'fill:#d9f2dc,stroke:#2e7d32,color:#14331a',
  failed: 'fill:#fbdcdc,stroke:#c62828,color:#4a1010',
  running: 'fill:#dbe9fb,stroke:#1565c0,color:#0d2a4d',
  skipped: 'fill:#fdf3d1,stroke:#b28704,color:#453500',
  retried: 'fill:#fdf3d1,stroke:#b28704,color:#453500',
  cancelled: 'fill:#eceff1,stroke:#607d8b,color:#263238',
  waiting: 'fill:#ffffff,stroke:#b0bec5,color:#78909c',
  gone: 'fill:#f5f5f5,stroke:#bdbdbd,color:#9e9e9e',
};

export function mermaidOf(graph: Graph): string {
  const inGroup = new Map<string | null, Array<GraphNode | GraphGroup>>();
  for (const member of [...graph.groups, ...graph.nodes])
    inGroup.set(member.group, [...(inGroup.get(member.group) ?? []), member]);
  const isRun = graph.nodes.some(({ state }) => state !== undefined);
  const lines = ['flowchart TD', ...membersOf(null, inGroup, isRun, 1)];
  for (const edge of graph.edges) {
    const label = edge.label === undefined ? '' : `|"${escapeLabel(edge.label)}"|`;
    lines.push(`  ${edge.from} ${ARROWS[edge.kind]}${label} ${edge.to}`);
  }
  if (isRun) lines.push(...Object.entries(CLASSES).map(([name, style]) => `  classDef ${name} ${style}`));
  return `${lines.join('\n')}\n`;
}

function membersOf(
  group: string | null,
  inGroup: ReadonlyMap<string | null, ReadonlyArray<GraphNode | GraphGroup>>,
  isRun: boolean,
  depth: number,
): string[] {
  const indent = '  '.repeat(depth);
  return (inGroup.get(group) ?? []).flatMap((member) => {
    if ('path' in member) return [`${indent}${nodeText(member, isRun)}`];
    return [
      `${indent}subgraph ${member.id}["${escapeLabel(member.label)}"]`,
      ...membersOf(member.id, inGroup, isRun, depth + 1),
      `${indent}end`,
    ];
  });
}

function nodeText(node: GraphNode, isRun: boolean): string {
  const [open, close] = SHAPES[node.kind];
  const spoken = SPOKEN.has(node.kind) ? `${node.kind} · ${node.label}` : node.label;
  const label = [spoken, ...stateWords(node)].join(' · ');
  const className =
    isRun && node.kind !== 'join' && node.kind !== 'end'
      ? `:::${isGone(node) ? 'gone' : (node.state?.outcome ?? 'waiting')}`
      : '';
  return `${node.id}${open}"${escapeLabel(label)}"${close}${className}`;
}

const isGone = ({ change }: GraphNode): boolean => change === 'removed' || change === 'replaced';

function stateWords(node: GraphNode): string[] {
  const { kind, state, change } = node;
  const words: string[] = change === undefined ? [] : [change];
  if (state === undefined) return words;
  if (state.passes > 1) words.push(`${state.passes} ${kind === 'start' ? 'passes' : 'times'}`);
  if (state.failures > (state.outcome === 'failed' && state.passes <= 1 ? 1 : 0))
    words.push(`${state.failures} failed`);
  // Elsewhere the colour says it.
  if (isGone(node) ? state.outcome !== 'ok' : state.outcome !== 'ok' && state.outcome !== 'failed')
    words.push(state.outcome);
  if (state.durationMs > 0) words.push(shortDuration(state.durationMs));
  return [...words, ...(state.usage === undefined ? [] : costWords(state.usage))];
}

function shortDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : durationWords(Math.round(ms / 60_000) * 60_000);
}

/** Everything but what is known to be plain: letters of any script, digits, spaces, and a few marks. */
const NOT_PLAIN = /[^\p{L}\p{M}\p{N}\p{So}\p{Sc}\p{Zs}.,_=+*/?!'()@~^·…×→−–—-]/gu;

/** Marks that turn the direction of text, or are invisible, could make a label say something else. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function escapeLabel(text: string): string {
  const plain = text
    .replaceAll(/\p{Cs}/gu, '\uFFFD')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(INVISIBLE, '')
    .trim();
  const escaped = plain.replaceAll(NOT_PLAIN, (mark) => `#${mark.codePointAt(0) ?? 0};`);
  return mathematics(escaped) || '#32;';
}

/** `$$` would open mathematics. */
function mathematics(text: string): string {
  return text.replaceAll('$$', '#36;#36;');
}
