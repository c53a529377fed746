import { writeFileSync } from 'node:fs';
import { test, vi } from 'vitest';
import { runCase, STRAIGHT } from './run-case.ts';
test('record', async () => {
  const C = (await import('/tmp/gen/cases.mjs' as string)).default as Record<string, any>;
  for (const [name, c] of Object.entries(C)) {
    let got: any;
    try { got = await runCase(c as never, STRAIGHT); } catch (error) { console.log(name, String(error)); continue; }
    const { title, definition, library, inputs, replies, interruptions, holds, failure, effects, outputs } = c;
    const out = { title, definition, library, inputs, replies, interruptions, holds, trace: got.trace, outcome: got.result.outcome, limit: got.result.limit, failure, effects, outputs };
    writeFileSync(new URL(`../cases/traces/${name}.json`, import.meta.url), format(out) + '\n');
  }
  vi.useRealTimers();
});
function format(v: unknown, indent = ''): string {
  const flat = JSON.stringify(v);
  if (flat === undefined) return 'null';
  if (typeof v !== 'object' || v === null || (flat.length + indent.length < 100)) return spaced(v);
  const inner = indent + '  ';
  if (Array.isArray(v)) return `[\n${v.map((x) => inner + format(x, inner)).join(',\n')}\n${indent}]`;
  return `{\n${Object.entries(v).filter(([, x]) => x !== undefined).map(([k, x]) => `${inner}${JSON.stringify(k)}: ${format(x, inner)}`).join(',\n')}\n${indent}}`;
}
function spaced(v: unknown): string {
  if (Array.isArray(v)) return `[${v.map(spaced).join(', ')}]`;
  if (typeof v === 'object' && v !== null) { const e = Object.entries(v).filter(([, x]) => x !== undefined); return e.length === 0 ? '{}' : `{ ${e.map(([k, x]) => `${JSON.stringify(k)}: ${spaced(x)}`).join(', ')} }`; }
  return JSON.stringify(v);
}
