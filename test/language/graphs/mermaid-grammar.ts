/**
 * The part of Mermaid's flowchart grammar that graphs are written in, read strictly: what is not
 * exactly a node, a group, an edge or a class is an error. Labels may hold nothing that Mermaid, its
 * directives, its comments, HTML or KaTeX would take for their own.
 */
import { defined } from '../../../language/defined.ts';

export interface Diagram {
  nodes: Map<string, { label: string; className?: string; groups: string[] }>;
  groups: Map<string, string>;
  edges: Array<{ from: string; arrow: string; to: string; label?: string }>;
}

const ID = 'n_[A-Za-z0-9_]+';
const LABEL = '"((?:[^"#<>&`:;%{}\\[\\]|\\\\\\p{C}]|#\\d+;)+)"';
const SHAPES = [
  ['\\(\\[', '\\]\\)'],
  ['\\(\\(', '\\)\\)'],
  ['\\[\\[', '\\]\\]'],
  ['\\{\\{', '\\}\\}'],
  ['\\[/', '/\\]'],
  ['\\[\\\\', '\\\\\\]'],
  ['\\[', '\\]'],
  ['\\(', '\\)'],
  ['\\{', '\\}'],
  ['>', '\\]'],
];
const NODES = SHAPES.map(
  ([open = '', close = '']) => new RegExp(`^(${ID})${open}${LABEL}${close}(?::::([a-z]+))?$`, 'u'),
);
const GROUP = new RegExp(`^subgraph (${ID})\\[${LABEL}\\]$`, 'u');
const EDGE = new RegExp(`^(${ID}) (-->|-\\.->)(?:\\|${LABEL}\\|)? (${ID})$`, 'u');
const CLASS = /^classDef ([a-z]+) (?:(?:fill|stroke|color):#[0-9a-f]{6},?)+$/;

export function readMermaid(text: string): Diagram {
  const [header, ...lines] = text.trimEnd().split('\n');
  if (header !== 'flowchart TD') throw new Error(`not a flowchart: ${header ?? ''}`);
  const diagram: Diagram = { nodes: new Map(), groups: new Map(), edges: [] };
  const classes = new Set<string>();
  const open: string[] = [];
  for (const line of lines.map((raw) => raw.trim())) {
    const group = GROUP.exec(line);
    const edge = EDGE.exec(line);
    const node = NODES.map((shape) => shape.exec(line)).find((found) => found !== null);
    const classDef = CLASS.exec(line);
    if (group !== null) {
      const [, id = '', label = ''] = group;
      if (diagram.groups.has(id) || diagram.nodes.has(id)) throw new Error(`${id} is there twice`);
      diagram.groups.set(id, plainLabel(label));
      open.push(id);
    } else if (line === 'end') {
      if (open.pop() === undefined) throw new Error('an end without a subgraph');
    } else if (edge !== null) {
      const [, from = '', arrow = '', label, to = ''] = edge;
      diagram.edges.push({ from, arrow, to, ...(label === undefined ? {} : { label: plainLabel(label) }) });
    } else if (node !== undefined) {
      const [, id = '', label = '', className] = node;
      if (diagram.groups.has(id) || diagram.nodes.has(id)) throw new Error(`${id} is there twice`);
      diagram.nodes.set(id, {
        label: plainLabel(label),
        groups: [...open],
        ...defined({ className }),
      });
    } else if (classDef !== null) classes.add(classDef[1] ?? '');
    else throw new Error(`not a line of a flowchart: ${line}`);
  }
  if (open.length > 0) throw new Error(`${open.join(', ')} has no end`);
  const named = [...diagram.nodes.values()].flatMap(({ className }) => className ?? []);
  const unknown = [
    ...diagram.edges.flatMap(({ from, to }) => [from, to]).filter((id) => !diagram.nodes.has(id)),
    ...named.filter((name) => !classes.has(name)),
  ];
  if (unknown.length > 0) throw new Error(`nothing is called ${unknown.join(', ')}`);
  return diagram;
}

function plainLabel(label: string): string {
  if (label.includes('$$')) throw new Error(`mathematics in ${label}`);
  return label.replaceAll(/#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)));
}
