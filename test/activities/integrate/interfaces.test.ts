/** Interfaces before and after: a caller of the old form fails, or does not. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { interfaceChanges } from '../../../systems/integrate/interfaces.ts';

/** The process that the judge asks for, without the step around it. */
const spawn = (command: string, { args = [], stdin = '' }: { args?: readonly unknown[]; stdin?: string } = {}) =>
  Promise.resolve({
    exitCode: 0,
    success: true,
    stdout: execFileSync(command, args.map(String), { input: stdin, encoding: 'utf8' }),
    stderr: '',
    output: '',
    durationMs: 0,
  });
const judged = (path: string, before: string, after: string) => interfaceChanges([{ path, before, after }], { spawn });

/** A caller of the old form, which is really run. */
const CASES: readonly [before: string, after: string, caller: string, isBreaking: boolean][] = [
  ['def f(a): return a', 'def g(a): return a', 'm.f(1)', true],
  ['def f(a): return a', 'def f(a, b): return a', 'm.f(1)', true],
  ['def f(a): return a', 'def f(a, b=1): return a', 'm.f(1)', false],
  ['def f(a): return a', 'def f(a, *, b): return a', 'm.f(1)', true],
  ['def f(a): return a', 'def f(a, *, b=2): return a', 'm.f(1)', false],
  ['def f(a, b): return a', 'def f(a): return a', 'm.f(1, 2)', true],
  ['def f(a, b): return a', 'def f(a, *rest, **more): return a', 'm.f(1, b=2)', false],
  ['def f(a): return a', 'def f(x): return x', 'm.f(a=1)', true],
  ['def f(a, /): return a', 'def f(x, /): return x', 'm.f(1)', false],
  ['def f(a): return a', 'def f(a, /): return a', 'm.f(a=1)', true],
  ['def f(a=1): return a', 'def f(a): return a', 'm.f()', true],
  ['def f(a): return a', 'def f(*, a): return a', 'm.f(1)', true],
  ['def f(*a): return a', 'def f(): return 1', 'm.f(1)', true],
  ['def f(**a): return a', 'def f(): return 1', 'm.f(b=1)', true],
  ['def f(a, *, b=1): return a', 'def f(a, b=1): return a', 'm.f(1, b=2)', false],
  ['def f(): return 1', 'from math import sqrt as f', 'm.f', false],
  ['def f(): return 1', 'f = lambda: 1', 'm.f()', false],
  ['def _f(): return 1', 'def _g(): return 1', 'None', false],
  ['class A:\n    def f(self): return 1', 'class A:\n    def g(self): return 1', 'm.A().f()', true],
  ['class A:\n    def f(self): return 1', 'class B:\n    def f(self): return 1\nclass A(B): pass', 'm.A().f()', false],
  ['class A: pass', 'class A:\n    def __init__(self, a): pass', 'm.A()', true],
  ['class A: pass', 'class A:\n    def __init__(self, a=1): pass', 'm.A()', false],
  ['class A:\n    def __init__(self, a): pass', 'class A: pass', 'm.A(1)', true],
  ['class A(dict): pass', 'class A: pass', 'm.A()["a"] if isinstance(m.A(), dict) and False else m.A().keys()', true],
  ['class A:\n    @property\n    def f(self): return 1', 'class A:\n    def f(self): return 1', 'm.A().f + 1', true],
  ['LIMIT = 1', 'OTHER = 1', 'm.LIMIT', true],
  ['def f():\n    def inner(): return 1\n    return inner()', 'def f(): return 1', 'm.f()', false],
  ['try:\n    from no import f\nexcept ImportError:\n    def f(): return 1', 'def f(): return 1', 'm.f()', false],
];

const RUN = `
import sys, types
m = types.ModuleType("m")
exec(compile(sys.argv[1], "m", "exec"), m.__dict__)
eval(sys.argv[2])
`;
const runs = (code: string, caller: string): boolean => {
  try {
    execFileSync('python3', ['-I', '-c', RUN, code, caller], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

describe('Python', () => {
  test.each(CASES)('%j, then %j, called by %s: breaking %s', async (before, after, caller, isBreaking) => {
    expect([runs(before, caller), runs(after, caller)]).toEqual([true, !isBreaking]);
    const { breaking, not_judged: unjudged } = await judged('m.py', before, after);
    expect([breaking.length > 0, unjudged], breaking.join('; ')).toEqual([isBreaking, []]);
  });

  test('what cannot be parsed is not judged, and said so', async () => {
    expect(await judged('m.py', 'def f(): pass', 'def f(:')).toEqual({
      breaking: [],
      non_breaking: [],
      not_judged: ['m.py'],
    });
  });

  test('what is new is not breaking', async () => {
    const { non_breaking: added } = await judged(
      'm.py',
      'def f(): pass',
      'def f(): pass\nclass A:\n    def g(self): pass',
    );
    expect(added).toEqual(['m.py: A', 'm.py: A.g']);
  });
});

test.each([
  ['a.ts', 'export function f() {}', 'export async function g() {}', ['a.ts: f is gone'], ['a.ts: g']],
  ['a.ts', 'export const f = () => 1;', 'export const f = (a: string) => a;', [], []],
  ['a.rs', 'pub async fn f() {}', 'fn f() {}', ['a.rs: f is gone'], []],
  ['a.go', 'func F() {}\nfunc g() {}', 'func (t *T) F() {}', [], []],
  ['a.test.ts', 'export const f = 1;', '', [], []],
])('%s: names alone', async (path, before, after, breaking, added) => {
  const found = await judged(path, before, after);
  expect(found).toEqual({ breaking, non_breaking: added, not_judged: path.includes('.test.') ? [] : [path] });
});
