/** What is kept of a whole campaign: docs/durability.md and the README quote it. */
import { CRASH_POINTS } from '../../world/crash-points/catalogue.ts';
import type { InterpreterReport } from './interpreter/lived-cases.ts';
import type { ServersReport } from './servers/campaign.ts';

export interface RecordedCampaign {
  seed: number;
  seconds: number;
  cases: number;
  lost: number;
  twice: number;
  other: number;
  interpreter: { cases: number; deaths: number; definitions: number };
  servers: {
    cases: number;
    runs: number;
    deaths: number;
    deeds: ServersReport['deeds'];
    withTwo: number;
    points: number;
    pointsReached: number;
    pointsOfKinds: number;
    pairs: number;
    /** Cases of each kind of run. */
    kinds: ServersReport['kinds'];
  };
}

interface Ran {
  seed: number;
  seconds: number;
  interpreter: InterpreterReport;
  servers: ServersReport;
}

export function recordOf({ seed, seconds, interpreter, servers }: Ran): RecordedCampaign {
  const findings = [...interpreter.findings, ...servers.findings];
  const of = (what: string): number => findings.filter((finding) => finding.what === what).length;
  const points = Object.keys(CRASH_POINTS).length;
  const { cases, runs, deaths, deeds, withTwo, pointsOfKinds, pairs, kinds } = servers;
  return {
    seed,
    seconds,
    cases: interpreter.cases + cases,
    lost: of('lost'),
    twice: of('twice'),
    other: of('other'),
    interpreter: {
      cases: interpreter.cases,
      deaths: interpreter.deaths,
      definitions: interpreter.definitions,
    },
    servers: {
      cases,
      runs,
      deaths,
      deeds,
      withTwo,
      points,
      pointsReached: points - servers.neverReached.length,
      pointsOfKinds,
      pairs,
      kinds: Object.fromEntries(Object.entries(kinds).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}
