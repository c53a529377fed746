/** One process of the long fuzz (scripts/fuzz.mjs): so many inputs of one kind from a seed on. */
import { parseArgs } from 'node:util';
import { examine, KINDS, type Kind } from './examine.ts';

const { values } = parseArgs({
  options: { kind: { type: 'string' }, from: { type: 'string' }, count: { type: 'string' } },
});
const kind = KINDS.find((known): known is Kind => known === values.kind) ?? 'evaluator';
const from = Number(values.from ?? 1);
const count = Number(values.count ?? 1);
const findingsMax = 5;
let findings = 0;

for (let seed = from; seed < from + count && findings < findingsMax; seed += 1) {
  const found = examine(kind, seed);
  if (found !== undefined) {
    findings += 1;
    process.stdout.write(`${JSON.stringify(found)}\n`);
  }
  if ((seed - from + 1) % 50_000 === 0) process.stderr.write(`${kind}: ${seed - from + 1} of ${count} from ${from}\n`);
}
process.exit(findings === 0 ? 0 : 1);
