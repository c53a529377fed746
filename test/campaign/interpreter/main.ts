/** A part of the campaign that needs no server, in a process whose clock is the simulation's: `main.js SEED POINTS MINUTES`. */
import { livedCases } from './lived-cases.ts';

const [seed = '1', points = '1000', minutes = '60'] = process.argv.slice(2);
const report = await livedCases({ seed: Number(seed), points: Number(points), minutes: Number(minutes) });
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(report.findings.length === 0 ? 0 : 1);
