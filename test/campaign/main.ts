/**
 * `npm run campaign`: brings workers to their deaths at the points of the catalogue, counts what became of it from
 * outside, and holds it against what is promised. `--help` says what it takes.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { CRASH_POINTS } from '../../world/crash-points/catalogue.ts';
import { ownRoot } from '../../services/home/package-root.ts';
import type { InterpreterReport } from './interpreter/lived-cases.ts';
import { PROMISES } from './promises.ts';
import { recordOf } from './record.ts';
import { serversCampaign, type ServersReport } from './servers/campaign.ts';
import { KIND_NAMES, type KindName } from './servers/kinds.ts';

interface Options {
  seed: number;
  points: number;
  minutes?: number;
  json?: boolean;
  only?: string[];
  part?: { nth: number; of: number };
  list?: boolean;
  record?: boolean;
}

const PARTS = ['interpreter', 'servers'];
const unlimitedMinutes = 600;

const whole = (text: string): number => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return number;
};

const partIn = (text: string): { nth: number; of: number } => {
  const [, nth = '', of = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const part = { nth: whole(nth), of: whole(of) };
  if (part.nth > part.of) throw new InvalidArgumentError('It is n/m, with n from 1 to m.');
  return part;
};

const readOptions = (): Options =>
  new Command('campaign')
    .description(
      'Lets workers die at the points of the catalogue, and counts from outside what became of the runs. A case is one run at one death. Exit code 1 when something was lost, twice or otherwise not as promised, or, in a whole campaign, when a point was never reached.',
    )
    .option('--seed <n>', 'makes the same choices again, though not at the same moments', whole, Date.now() % 1_000_000)
    .option('--points <k>', 'cases: half of them on real services, and half on the interpreter alone', whole, 2000)
    .option('--minutes <m>', 'no worker is killed any more after so long; the campaign is not a whole one then', whole)
    .option('--only <name...>', `a part (${PARTS.join(', ')}), or kinds of runs`)
    .option('--part <n/m>', 'every m-th kind of run, from the n-th on, with the part on the interpreter', partIn)
    .option('--json', 'print one JSON document on stdout')
    .option('--list', 'print the points, the kinds of runs and the promises, and do nothing')
    .option('--record', 'keep the figures of a whole campaign, which the documentation quotes')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .parse()
    .opts<Options>();

function list(): void {
  const lines = [
    ...Object.entries(CRASH_POINTS).map(([name, point]) => `${name.padEnd(24)} ${point.is} (${point.in})`),
    '',
    `kinds of runs: ${KIND_NAMES.join(', ')}`,
    '',
    ...PROMISES.map(({ what, happens }) => `${happens}: ${what}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const saidEveryMs = 10_000;
let saidAt = 0;

/** On a terminal one line that changes; elsewhere a line now and then. */
function said(word: string): void {
  if (process.stderr.isTTY) return void process.stderr.write(`\r\x1b[K${word}`);
  if (word === '' || Date.now() - saidAt < saidEveryMs) return;
  saidAt = Date.now();
  process.stderr.write(`${word}\n`);
}

/** In a process of its own: its clock is the simulation's. */
function interpreterCampaign(seed: number, points: number, minutes: number): Promise<InterpreterReport> {
  const program = join(import.meta.dirname, 'interpreter', 'main.js');
  const child = spawn(process.execPath, [program, ...[seed, points, minutes].map(String)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  return new Promise((resolve, reject) => {
    child.on('close', () => {
      try {
        resolve(JSON.parse(text) as InterpreterReport);
      } catch {
        reject(new Error(`the part on the interpreter said nothing that can be read: ${text.slice(0, 500)}`));
      }
    });
  });
}

interface Reports {
  interpreter: InterpreterReport | null;
  servers: ServersReport | null;
}

const kindsIn = ({ only, part }: Options): KindName[] | undefined =>
  part === undefined
    ? only?.filter((name): name is KindName => (KIND_NAMES as string[]).includes(name))
    : KIND_NAMES.filter((_name, index) => index % part.of === part.nth - 1);

async function run(options: Options): Promise<Reports> {
  const { seed, points, minutes = unlimitedMinutes, only } = options;
  const kinds = kindsIn(options);
  const isAsked = (part: string): boolean =>
    only === undefined || only.includes(part) || (part === 'servers' && (kinds?.length ?? 0) > 0);
  const share = isAsked('interpreter') && isAsked('servers') ? Math.ceil(points / 2) : points;
  const [interpreter, servers] = await Promise.all([
    isAsked('interpreter') ? interpreterCampaign(seed, share, minutes) : null,
    isAsked('servers')
      ? serversCampaign({
          seed,
          points: share,
          minutes,
          ...(kinds === undefined || kinds.length === 0 ? {} : { kinds }),
          tell: ({ cases, deaths, open, reached, word }) =>
            said(
              `on services: ${cases} of ${share} cases, ${deaths} deaths, ${reached} of ${Object.keys(CRASH_POINTS).length} points, ${open} runs under way; ${word}`,
            ),
        })
      : null,
  ]);
  return { interpreter, servers };
}

function tell({ interpreter, servers }: Reports, seconds: number): void {
  const lines: string[] = [];
  if (interpreter !== null)
    lines.push(
      `on the interpreter: ${interpreter.cases} cases, ${interpreter.deaths} deaths of ${interpreter.definitions} random definitions`,
    );
  if (servers !== null) {
    const deeds = Object.entries(servers.deeds).map(([deed, count]) => `${count} ${deed}`);
    const reached = Object.keys(CRASH_POINTS).length - servers.neverReached.length;
    lines.push(
      `on services: ${servers.cases} cases of ${servers.runs} runs, ${servers.deaths} deaths (${deeds.join(', ')}; ${servers.withTwo} with two workers)`,
      `a worker died at ${reached} of ${Object.keys(CRASH_POINTS).length} points, at ${servers.pointsOfKinds} pairs of a point and a kind of run, and at ${servers.pairs} pairs of points one after the other`,
      ...servers.neverReached.map(
        (point) => `never reached: ${point}, which workers passed ${servers.passed[point] ?? 0} times`,
      ),
    );
  }
  const findings = [...(interpreter?.findings ?? []), ...(servers?.findings ?? [])];
  for (const finding of findings) lines.push(`${finding.what.toUpperCase()}: ${JSON.stringify(finding)}`);
  const of = (what: string): number => findings.filter((finding) => finding.what === what).length;
  lines.push(`${of('lost')} lost, ${of('twice')} twice, ${of('other')} otherwise not as promised, in ${seconds} s`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options.list === true) {
    list();
    return 0;
  }
  const unknown = (options.only ?? []).filter((name) => ![...PARTS, ...KIND_NAMES].includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`there is no part or kind "${unknown.join(', ')}"; see --list\n`);
    return 2;
  }
  const startedAt = Date.now();
  const reports = await run(options);
  said('');
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const isOfAll = options.only === undefined && options.part === undefined;
  const isWhole = isOfAll && options.minutes === undefined;
  const findings = [...(reports.interpreter?.findings ?? []), ...(reports.servers?.findings ?? [])];
  const missed = isWhole ? (reports.servers?.neverReached ?? []) : [];
  const isOk = findings.length === 0 && missed.length === 0;
  if (options.json === true)
    process.stdout.write(`${JSON.stringify({ ok: isOk, seed: options.seed, seconds, ...reports }, null, 2)}\n`);
  else tell(reports, seconds);
  if (options.record === true && isOfAll && reports.interpreter !== null && reports.servers !== null) {
    const kept = recordOf({ seed: options.seed, seconds, interpreter: reports.interpreter, servers: reports.servers });
    writeFileSync(join(ownRoot, 'test', 'campaign', 'recorded.json'), `${JSON.stringify(kept, null, 2)}\n`);
  }
  return isOk ? 0 : 1;
}

// What waits for a server that was taken away has nobody to tell.
process.on('unhandledRejection', () => undefined);
// Nor has what is tried again by a timer of the Temporal client after that client was closed.
process.on('uncaughtException', (error) => {
  if (error.message === 'Channel has been shut down') return;
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exit(1);
});
process.exit(await main());
