/**
 * A moment at which a worker may die, for the campaign that makes it do so (test/campaign/). Without the variable that
 * arms it, a point is one look at a constant.
 */
import type { CrashPoint } from './catalogue.ts';
import { armedDeaths, type CrashPlace } from './armed-deaths.ts';

const armed = armedDeaths(process.env);

/** `at`: the run and the step that are at it, where there are. */
export function crashPoint(name: CrashPoint, at: CrashPlace = {}): void {
  if (armed !== null) armed.pass(name, at);
}

/** The same once this turn of the event loop is over: what was handed over just now is on its way. */
export function crashPointSoon(name: CrashPoint, at: CrashPlace = {}): void {
  if (armed !== null) setImmediate(() => armed.pass(name, at));
}
