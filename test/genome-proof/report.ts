/** What the proof found, for people (HTML) and for programs (report.json). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from '../../systems/genome/verdict.ts';
import type { Kill } from './kills.ts';

export interface Asked {
  question: string;
  key: string[];
  before: { answer: string; right: boolean };
  after: { answer: string; right: boolean };
}

export interface Used {
  question: string;
  key: string;
  /** By the name of the layer, in a run of the home that trained it. */
  here: string;
  /** By its name in the other home. */
  there: string;
  /** As the genome of a persona there. */
  asGenome: string;
}

export interface Found {
  seed: number;
  isQuick: boolean;
  /** What was trained, for people. */
  model: string;
  layer: string;
  gate: Verdict;
  kills: Kill[];
  questions: Asked[];
  loss: number[];
  /** Null where the model is not one that answers here. */
  used: Used[] | null;
  findings: string[];
  durationMs: number;
}

export function writeReport(folder: string, found: Found): void {
  const { seed, isQuick, model, gate, kills, questions, used, findings, durationMs } = found;
  const { before, after, n, interval } = gate.heldOut;
  const { forgetting } = gate;
  const report = {
    seed,
    isQuick,
    model,
    findings,
    heldOut: { before, after, n, interval },
    forgetting: { before: forgetting.before, after: forgetting.after, n: forgetting.n },
    gate,
    kills: kills.map(({ target, step, atMs }) => ({ target, step, atMs })),
    used,
    questions,
    durationMs,
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(folder, 'index.html'), pageOf(found));
}

const text = (value: unknown): string =>
  String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const table = (heads: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  `<table><thead><tr>${heads.map((head) => `<th>${text(head)}</th>`).join('')}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${text(cell)}</td>`).join('')}</tr>`)
    .join('')}</tbody></table>`;

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c}
table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{text-align:left;border-bottom:1px solid #ddd;padding:.3rem .6rem;vertical-align:top}
svg{width:100%;height:auto}.good{color:#17633a}.bad{color:#a3201d}`;

const notShown = ({ model, used }: Found): string[] => [
  `One seed and one model (${model}): other models, other data and other settings come out differently.`,
  'The facts themselves are trained. What is held out are wordings of them; that a model draws conclusions from facts is not shown.',
  'An answer counts when it contains the key.',
  'Forgetting is measured on 212 short questions, not on everything that the model knew. With 212 questions, the true loss may be some points away from what is measured.',
  used === null
    ? 'The layer was imported into another home, and nothing was asked of it there or here.'
    : 'The other home is on the same machine. Nothing is shown of another processor, where answers can differ in their last bits.',
];

const mark = ({ answer, right }: Asked['before']): string => `${right ? '✔' : '✘'} ${answer.trim()}`;

function pageOf(found: Found): string {
  const { seed, isQuick, layer, gate, kills, questions, loss, used, findings, durationMs } = found;
  const { heldOut, forgetting } = gate;
  const how =
    findings.length === 0
      ? '<p class="good">Everything that it sets out to show was found.</p>'
      : `<ul class="bad">${findings.map((finding) => `<li>${text(finding)}</li>`).join('')}</ul>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Genome proof, seed ${seed}</title><style>${STYLE}</style></head><body>
<h1>Genome proof, seed ${seed}${isQuick ? ' (quick)' : ''}</h1>
${how}
<p>The layer <code>${text(layer)}</code>, in ${Math.round(durationMs / 1000)} seconds.</p>
<h2>The gate</h2>
${table(
  ['', 'questions', 'before', 'after', ''],
  [
    [
      'held-out wordings',
      heldOut.n,
      heldOut.before,
      heldOut.after,
      `${heldOut.gain} points, 95 % interval ${heldOut.interval.join(' to ')}`,
    ],
    ['unrelated', forgetting.n, forgetting.before, forgetting.after, `${forgetting.forgotten} points forgotten`],
  ],
)}
<p>${gate.passed ? 'It passed.' : text(gate.reasons.join('; '))}</p>
<h2>Loss</h2>
${curveOf(loss, kills)}
<h2>Kills</h2>
${table(
  ['killed with -9', 'after checkpoint', 'seconds after the start'],
  kills.map(({ target, step, atMs }) => [target, step, Math.round(atMs / 1000)]),
)}
<h2>In use</h2>
${
  used === null
    ? '<p>The tiny model of a quick proof answers only the trainer.</p>'
    : table(
        ['question', 'key', 'by the name of the layer', 'in the other home', 'as the genome of a persona there'],
        used.map(({ question, key, here, there, asGenome }) => [question, key, here, there, asGenome]),
      )
}
<h2>Questions</h2>
${table(
  ['question', 'key', 'without the layer', 'with it'],
  questions.map((one) => [one.question, one.key.join(' / '), mark(one.before), mark(one.after)]),
)}
<h2>What this does not show</h2>
<ul>${notShown(found)
    .map((line) => `<li>${text(line)}</li>`)
    .join('')}</ul>
</body></html>
`;
}

const [WIDE, HIGH, EDGE] = [800, 240, 30];

/** Of the loss over the steps, with a line where somebody was killed. */
function curveOf(loss: readonly number[], kills: readonly Kill[]): string {
  const most = Math.max(...loss, 1e-9);
  const x = (step: number): number => EDGE + ((WIDE - 2 * EDGE) * step) / Math.max(1, loss.length);
  const y = (value: number): number => HIGH - EDGE - ((HIGH - 2 * EDGE) * value) / most;
  const points = loss.map((value, index) => `${x(index + 1).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  const marks = kills
    .map(
      ({ target, step }) =>
        `<line x1="${x(step)}" x2="${x(step)}" y1="${EDGE}" y2="${HIGH - EDGE}" stroke="#a3201d" stroke-dasharray="4"/><text x="${x(step) + 3}" y="${EDGE + 10}" font-size="11" fill="#a3201d">${target}</text>`,
    )
    .join('');
  return `<svg viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label="loss over ${loss.length} steps"><rect x="${EDGE}" y="${EDGE}" width="${WIDE - 2 * EDGE}" height="${HIGH - 2 * EDGE}" fill="none" stroke="#ccc"/><polyline points="${points}" fill="none" stroke="#174a7c" stroke-width="1.5"/>${marks}<text x="${EDGE}" y="${HIGH - 8}" font-size="11">step 1 to ${loss.length}, loss ${most.toFixed(2)} at most, ${(loss.at(-1) ?? 0).toFixed(3)} at the end</text></svg>`;
}
