/** A folder that somebody else has prepared, or can write, becomes no home: what services keep in it would be theirs. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConfigError } from '../../../services/config/config.ts';
import { newKeyText } from '../../../services/config/seal-key.ts';
import { adoptHome, homeStanding, makeHome } from '../../../services/home/own-home.ts';
import { homeKeyFile, homeKeys } from '../../../services/seal/home-key.ts';

const isRoot = process.getuid?.() === 0;
const SOMEBODY = 65_534;

let around: string;
let home: string;
beforeEach(() => {
  around = mkdtempSync(join(tmpdir(), 'sentinel-prepared-'));
  home = join(around, 'home');
  mkdirSync(home);
  vi.stubEnv('XDG_STATE_HOME', join(around, 'state'));
  vi.stubEnv('SENTINEL_HOME', home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(around, { recursive: true, force: true });
});

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe.runIf(isRoot)('of another user', () => {
  test.each([0o755, 0o777])('an empty folder of theirs is none (mode %o)', (mode) => {
    chownSync(home, SOMEBODY, SOMEBODY);
    chmodSync(home, mode);
    expect(homeStanding(home)).toBe('shared');
    expect(() => makeHome(home)).toThrow(ConfigError);
    expect(() => homeKeys(home)).toThrow(/belongs to another user or can be written by others/);
    expect(readdirSync(home)).toEqual([]);
  });

  test('nor is one that the user had made and others have now', () => {
    makeHome(home);
    expect(homeStanding(home)).toBe('own');
    chownSync(home, SOMEBODY, SOMEBODY);
    expect(homeStanding(home)).toBe('shared');
  });

  test('a key that they have put there is none', () => {
    makeHome(home);
    writeFileSync(homeKeyFile(home), newKeyText(), { mode: 0o600 });
    expect(homeKeys(home)).toHaveLength(1);
    chownSync(homeKeyFile(home), SOMEBODY, SOMEBODY);
    expect(() => homeKeys(home)).toThrow(/belongs to another user, who knows this key/);
  });
});

describe('writable for others', () => {
  test('an empty folder of the user is closed to them first', () => {
    chmodSync(home, 0o777);
    makeHome(home);
    expect(modeOf(home)).toBe(0o755);
    expect(homeStanding(home)).toBe('own');
  });

  test('one that has a record is none any more', () => {
    // By a relative path nobody names a home.
    vi.stubEnv('SENTINEL_HOME', relative(process.cwd(), home));
    expect(homeStanding(home)).toBe('new');
    writeFileSync(join(home, 'services.json'), '{}');
    expect(homeStanding(home)).toBe('foreign');
    adoptHome(home);
    const recorded = homeStanding(home);
    chmodSync(home, 0o777);
    expect([recorded, homeStanding(home)]).toEqual(['own', 'shared']);
    chmodSync(home, 0o755);
    expect(homeStanding(home)).toBe('own');
  });
});

test("a folder that is not there is made, and is the user's", () => {
  rmSync(home, { recursive: true });
  expect(homeStanding(home)).toBe('new');
  expect(homeKeys(home)).toBeDefined();
  expect(homeStanding(home)).toBe('own');
  expect(existsSync(homeKeyFile(home))).toBe(true);
});
