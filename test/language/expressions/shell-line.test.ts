/**
 * Shell lines are proven by the shells themselves: every rendered line runs in `sh` and in `bash`
 * with hostile values, the argument must arrive byte for byte, and nothing else may have run.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { renderShellLine } from '../../../language/references/shell-line.ts';
import { scopeOf } from '../../../language/expression/scope.ts';

const SHELLS = ['sh', 'bash'];

const HOSTILE = [
  '; touch owned',
  '$(touch owned)',
  '`touch owned`',
  "'; touch owned; '",
  '"; touch owned; "',
  '" $(touch owned) "',
  '&& touch owned',
  '| touch owned',
  '\n touch owned\n',
  'EOF\ntouch owned\n',
  '-rf --help',
  '*',
  '~',
  '$HOME ${HOME} $1 $?',
  'back\\slash\\n \\" \\\'',
  'tab\tand  two spaces ',
  'ünïcödé 日本語 🙂',
  'ends with newlines\n\n',
  '#not a comment',
  '${SENTINEL_1}',
  '}',
  '',
];

/** Lines whose first argument to `show` must be the value, between marks where the line has them. */
const PLACES: Array<{ line: string; around?: [string, string] }> = [
  { line: 'show $value' },
  { line: 'show "$value"' },
  { line: "show '$value'" },
  { line: 'show {{value}}' },
  { line: 'show pre-$value-post', around: ['pre-', '-post'] },
  { line: 'show "pre $value post"', around: ['pre ', ' post'] },
  { line: "show 'pre $value post'", around: ['pre ', ' post'] },
  { line: "show 'it'\\''s $value'", around: ["it's ", ''] },
  { line: 'true && show $value || exit 9' },
  { line: 'if true; then show "$value"; fi' },
  { line: '(show $value)' },
  { line: 'x=$value; show "$x"' },
  { line: 'for x in $value; do show "$x"; done' },
  { line: '# $value `"\'\nshow $value' },
  { line: 'show "$(printf "%s." $value)"', around: ['', '.'] },
  { line: 'show "$(printf "%s." "$value")"', around: ['', '.'] },
  { line: "show \"$(printf '%s.' '$value')\"", around: ['', '.'] },
  { line: 'show "`printf %s. $value`"', around: ['', '.'] },
  { line: 'x=`printf %s. $value`; show "$x"', around: ['', '.'] },
  { line: 'show "$(cat <<EOF\n$value.\nEOF\n)"', around: ['', '.'] },
  { line: 'x=$(cat <<-EOF\n\t[$value]\n\tEOF\n); show "$x"', around: ['[', ']'] },
  { line: 'case x in (x) show $value;; esac' },
  { line: 'show ${UNSET_NAME:-}"$value"' },
];

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shell-line-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Runs a rendered line; `show` prints its first argument and the number of them. */
function run(shell: string, value: string, line: string): { shown: string; stderr: string; made: string[] } {
  const rendered = renderShellLine(line, scopeOf({ value }));
  expect(rendered.faults).toEqual([]);
  const files = Object.entries(rendered.files).map(([name, text]) => {
    const path = join(tmpdir(), `${name}-${process.pid}`);
    writeFileSync(path, text);
    return [`${name}_FILE`, path];
  });
  const prelude = `show() { printf '%s|%s' "$#" "$1"; }\n`;
  const done = spawnSync(shell, ['-c', prelude + rendered.line], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, ...rendered.env, ...Object.fromEntries(files) },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return { shown: done.stdout, stderr: done.stderr, made: readdirSync(folder) };
}

describe.each(SHELLS)('%s', (shell) => {
  test.each(PLACES)('carries hostile values through: $line', ({ line, around = ['', ''] }) => {
    for (const value of HOSTILE) {
      const { shown, stderr, made } = run(shell, value, line);
      expect({ value, shown, stderr, made }).toEqual({
        value,
        shown: `1|${around[0]}${value}${around[1]}`,
        stderr: '',
        made: [],
      });
    }
  });

  test('carries a value that is too large for the environment', () => {
    const value = `${'x'.repeat(300_000)}'"$(touch owned)\n\n`;
    const { shown, made } = run(shell, value, 'show "$value"');
    expect(made).toEqual([]);
    expect(shown === `1|${value}`).toBe(true);
  });

  test("leaves to the shell what is the shell's", () => {
    const line = 'y=2; set -- one; show "$y $1 $# $(echo in) $((1 + y)) ${y}z \\$value $HOMEX $$" | sed "s/ [0-9]*$//"';
    expect(run(shell, 'V', line).shown).toBe(`1|2 one 1 in 3 2z $value `);
  });

  test.each([
    ['for value in 1 2; do show $value; done', '1|11|2'],
    ['for value\nin 1 2\ndo show "$value"; done', '1|11|2'],
    ['show $value; value=2; show "$value"', '1|V1|2'],
    ['value=1 show $value', '1|V'],
    ['value=1 && show $value', '1|1'],
    ['value=1 other=$value; show $other', '1|1'],
    ['value=a; value="$value b"; show "$value"', '1|a b'],
    ['value="$(echo $value in)"; show "$value"', '1|V in'],
    ['export value=3; show $value', '1|3'],
    ['if true; then value=4; fi; show $value', '1|4'],
    ['echo x | { read value; show $value; }', '1|x'],
    ['echo "a b" | while IFS= read -r value; do show "$value"; done', '1|a b'],
    ['echo "a b" | while read -r first value; do show "$first-$value"; done', '1|a-b'],
    ['(value=5; show $value)', '1|5'],
    ['x=$(value=6; echo $value); show $x', '1|6'],
    ['value=7; cat <<EOF\n$value\nEOF', '7\n'],
    ['cat <<EOF\nvalue=8; $value\nEOF', 'value=8; V\n'],
    ["echo 'value=9; '$value", 'value=9; V\n'],
    ['# value=9\nshow $value', '1|V'],
    ['echo value=9; show $value', 'value=9\n1|V'],
    ['value=1; show "{{value}}"', '1|V'],
    ['case x in x) value=2;; esac; show $value', '1|2'],
    ['x=1 \\\n value=2; show $value', '1|2'],
  ])('leaves a name to the shell once the line has set it: %j', (line, shown) => {
    expect(run(shell, 'V', line)).toMatchObject({ shown, stderr: '' });
  });

  test('counts with whole numbers', () => {
    expect(run(shell, '-5', 'show $((3 - $value))').shown).toBe('1|8');
  });
});

test('a line that is one reference is the command line itself', () => {
  expect(renderShellLine(' $plan.command ', scopeOf({ plan: { command: 'echo "$HOME" | wc -c' } }))).toEqual({
    line: 'echo "$HOME" | wc -c',
    env: {},
    files: {},
    unresolved: [],
    faults: [],
  });
});

test.each([
  'echo $((1 + $value))',
  'echo $[ $value ]',
  '(( $value > 1 ))',
  'let "x = $value"',
  'declare -i x=$value',
  '[[ $value -eq 1 ]]',
  '[[ 1 -lt "$value" ]]',
  '[[ -v $value ]]',
  'list[$value]=1',
])('refuses text where the shell calculates: %s', (line) => {
  const hostile = renderShellLine(line, scopeOf({ value: 'a[$(touch owned)]' }));
  expect(hostile.faults.map((fault) => fault.code)).toEqual(['SHELL_REFERENCE_UNSAFE']);
  expect(renderShellLine(line, scopeOf({ value: 7 })).faults).toEqual([]);
});

test.each(["cat <<'EOF'\n$value\nEOF\n", 'echo ${x:-$value}', "echo $'$value'", 'echo \\$value', 'echo $other'])(
  'leaves alone: %j',
  (line) => {
    expect(renderShellLine(line, scopeOf({ value: 'data' }))).toEqual({
      line,
      env: {},
      files: {},
      unresolved: [],
      faults: [],
    });
  },
);

test('a known variable without the field becomes empty text and is named', () => {
  expect(renderShellLine('echo $result.missing $HOME', scopeOf({ result: { a: 1 } }))).toMatchObject({
    line: 'echo "${SENTINEL_1}" $HOME',
    env: { SENTINEL_1: '' },
    unresolved: ['$result.missing'],
  });
});

test('a NUL character is refused', () => {
  expect(renderShellLine('echo $value', scopeOf({ value: 'a\0b' })).faults[0]?.code).toBe('SHELL_REFERENCE_UNSAFE');
});
