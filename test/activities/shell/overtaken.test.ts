/** An attempt acts only while no other one can have begun. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type * as Overtaken from '../../../world/processes/overtaken.ts';

let attemptNow: typeof Overtaken.attemptNow;
let LeftBehind: typeof Overtaken.LeftBehind;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] });
  // Each test is a process of its own, which has not stood still yet.
  vi.resetModules();
  ({ attemptNow, LeftBehind } = await import('../../../world/processes/overtaken.ts'));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Sets both clocks to so many ms from now on, while no timer fires. */
function standStill(): (ms: number) => void {
  const [still, time] = [performance.now(), Date.now()];
  const now = vi.spyOn(performance, 'now');
  return (ms) => {
    now.mockImplementation(() => still + ms);
    vi.setSystemTime(time + ms);
  };
}

describe('an attempt', () => {
  it('acts for as long as it says that it is alive', () => {
    const { check, sign } = attemptNow(Date.now());
    for (let seconds = 0; seconds < 60; seconds += 5) {
      sign();
      vi.advanceTimersByTime(5_000);
      expect(check).not.toThrow();
    }
  });

  it('that comes to act long after its last sign of life is taken for lost', () => {
    const { check, sign } = attemptNow(Date.now());
    vi.advanceTimersByTime(5_000);
    expect(check).not.toThrow();
    vi.advanceTimersByTime(5_000);
    expect(check).toThrow(LeftBehind);
    sign();
    expect(check).not.toThrow();
  });

  it('whose process stood still is lost, whatever it says afterwards, and the next is not', () => {
    const { check, sign } = attemptNow(Date.now());
    vi.advanceTimersByTime(2_000);
    const at = standStill();
    at(9_000);
    sign();
    expect(check).toThrow(LeftBehind);
    expect(() => attemptNow(Date.now())).toThrow(LeftBehind);
    at(9_500);
    expect(() => attemptNow(Date.now())).not.toThrow();
    expect(check).toThrow(LeftBehind);
  });

  it('that was scheduled while its process stood still is lost, however late it comes', () => {
    attemptNow(Date.now());
    const scheduled = Date.now() + 5_000;
    const at = standStill();
    at(9_000);
    expect(() => attemptNow(scheduled)).toThrow(LeftBehind);
    for (const ms of [9_500, 15_000, 22_000, 29_000]) {
      at(ms);
      expect(() => attemptNow(scheduled)).toThrow(LeftBehind);
      expect(() => attemptNow(scheduled + 4_100)).not.toThrow();
    }
  });

  it('is not lost for as long as a clock that was set back takes', () => {
    attemptNow(Date.now());
    const [still, time] = [performance.now(), Date.now()];
    const now = vi.spyOn(performance, 'now').mockImplementation(() => still + 9_000);
    vi.setSystemTime(time + 3_600_000);
    expect(() => attemptNow(Date.now())).toThrow(LeftBehind);
    const scheduledAfter = (ms: number): (() => unknown) => {
      now.mockImplementation(() => still + ms);
      return () => attemptNow(time + ms);
    };
    for (let ms = 14_000; ms < 69_000; ms += 5_000) expect(scheduledAfter(ms)).toThrow(LeftBehind);
    expect(scheduledAfter(70_000)).not.toThrow();
  });
});
