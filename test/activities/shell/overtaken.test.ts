/** An attempt acts only while no other one can have begun. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { attemptNow, LeftBehind } from '../../../world/processes/overtaken.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('an attempt', () => {
  it('acts for as long as it says that it is alive', () => {
    const { check, sign } = attemptNow();
    for (let seconds = 0; seconds < 60; seconds += 5) {
      sign();
      vi.advanceTimersByTime(5_000);
      expect(check).not.toThrow();
    }
  });

  it('that comes to act long after its last sign of life is taken for lost', () => {
    const { check, sign } = attemptNow();
    vi.advanceTimersByTime(5_000);
    expect(check).not.toThrow();
    vi.advanceTimersByTime(5_000);
    expect(check).toThrow(LeftBehind);
    sign();
    expect(check).not.toThrow();
  });

  it('whose process stood still is lost, whatever it says afterwards, and the next is not', () => {
    const { check, sign } = attemptNow();
    vi.advanceTimersByTime(2_000);
    // No timer fires meanwhile.
    vi.setSystemTime(Date.now());
    const still = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => still + 9_000);
    sign();
    expect(check).toThrow(LeftBehind);
    expect(() => attemptNow()).toThrow(LeftBehind);
    vi.spyOn(performance, 'now').mockImplementation(() => still + 9_500);
    expect(() => attemptNow()).not.toThrow();
    expect(check).toThrow(LeftBehind);
  });
});
