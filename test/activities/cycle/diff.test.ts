/** What a person is shown of a changeset: the words of the question and a unified diff, bounded in size. */
import { beforeEach, describe, expect, test } from 'vitest';
import { budgeted, changeWords, DIFF_BOUNDS, diffOf } from '../../../systems/cycle/changesets/diff.ts';
import type { PlannedFile } from '../../../systems/cycle/changesets/changeset.ts';

let files: PlannedFile[];
beforeEach(() => {
  files = [];
});

const held = (content: string | Buffer, mode = '100644') => ({ mode, content: Buffer.from(content) });
const modify = (path: string, before: string | Buffer, after: string | Buffer, modes = ['100644', '100644']): void =>
  void files.push({ operation: 'MODIFY', path, before: held(before, modes[0]), after: held(after, modes[1]) });
const create = (path: string, after: string, mode?: string): void =>
  void files.push({ operation: 'CREATE', path, before: null, after: held(after, mode) });
const remove = (path: string, before: string): void =>
  void files.push({ operation: 'DELETE', path, before: held(before), after: null });

describe('a changeset of each kind', () => {
  beforeEach(() => {
    modify('a.txt', 'one\ntwo\n', 'one\nthree\n');
    create('bin/go', '#!/bin/sh\n', '100755');
    remove('old.txt', 'gone\n');
  });

  test('is counted in words', () => {
    expect(changeWords(files)).toBe('change 3 files (creates 1, modifies 1, deletes 1)');
    expect(changeWords(files.slice(0, 1))).toBe('change 1 file (modifies 1)');
  });

  test('is shown as a unified diff', () => {
    expect(diffOf(files).split('\n')).toEqual([
      'MODIFY a.txt',
      '--- a/a.txt',
      '+++ b/a.txt',
      '@@ -1,2 +1,2 @@',
      ' one',
      '-two',
      '+three',
      'CREATE bin/go',
      'mode 100755',
      '--- /dev/null',
      '+++ b/bin/go',
      '@@ -0,0 +1,1 @@',
      '+#!/bin/sh',
      'DELETE old.txt',
      '--- a/old.txt',
      '+++ /dev/null',
      '@@ -1,1 +0,0 @@',
      '-gone',
    ]);
  });
});

test('modes, links and what is no text are said in words', () => {
  modify('run.sh', 'x\n', 'x\n', ['100644', '100755']);
  modify('picture.png', Buffer.from([0, 1, 255]), Buffer.from([0, 1, 255, 2]));
  create('link', 'a.txt', '120000');
  expect(diffOf(files)).toContain(
    'MODIFY run.sh\nmode 100644 -> 100755\nMODIFY picture.png\n3 bytes -> 4 bytes, not text',
  );
  expect(diffOf(files)).toContain('CREATE link\nmode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1,1 @@\n+-> a.txt');
});

test('a change of line ends alone is a change', () => {
  modify('dos.txt', 'one\n', 'one\r\n');
  expect(diffOf(files)).toContain('-one\n+one\r');
});

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `line ${n}\n`).join('');

describe('bounds', () => {
  test('a long file is cut, and says so', () => {
    create('long.txt', lines(10_000));
    const shown = diffOf(files).split('\n');
    expect(shown).toHaveLength(DIFF_BOUNDS.fileLinesMax);
    expect(shown.at(-1)).toMatch(/^… 9\d{3} more lines of this file$/);
  });

  test('of many files the last are named alone', () => {
    for (let n = 0; n < 500; n += 1) create(`f${n}.txt`, lines(10));
    const shown = diffOf(files);
    expect(shown.split('\n').length).toBeLessThanOrEqual(DIFF_BOUNDS.linesMax + 1);
    expect(shown).toMatch(/… the diff goes on with \d+ more of the files: CREATE f\d+\.txt/);
  });

  test('long lines count as characters', () => {
    for (let n = 0; n < 10; n += 1) create(`wide${n}.txt`, `${'x'.repeat(20_000)}\n`);
    expect(diffOf(files).length).toBeLessThan(DIFF_BOUNDS.charactersMax + 1_000);
  });

  test('a long line is cut, says how much is left out, and halves no character', () => {
    create('wide.txt', `${'x'.repeat(498)}😀${'y'.repeat(1_000)}\nshort\n`);
    expect(diffOf(files).split('\n').slice(4)).toEqual([`+${'x'.repeat(498)}… 1002 more characters`, '+short']);
  });

  test.each([
    ['wide', `${'x'.repeat(400)}\n`.repeat(1_000)],
    ['long', lines(10_000)],
  ])('of a %s file the part is shown that fits, and the others whole, wherever they stand', (_what, large) => {
    for (let n = 0; n < 40; n += 1) create(`large${n}.txt`, large);
    create('small.txt', 'touch W\n');
    const shown = diffOf(files);
    expect(shown).toContain('CREATE small.txt\n--- /dev/null\n+++ b/small.txt\n@@ -0,0 +1,1 @@\n+touch W');
    for (let n = 0; n < 40; n += 1)
      expect(shown).toMatch(
        new RegExp(`CREATE large${n}\\.txt\\n.*\\n.*\\n@@.*\\n\\+.*\\n(?:\\+.*\\n)*… \\d+ more lines of this file`),
      );
    expect(shown.length).toBeLessThan(DIFF_BOUNDS.charactersMax + 1_000);
    expect(shown.split('\n').length).toBeLessThanOrEqual(DIFF_BOUNDS.linesMax + 1);
  });

  test('all files together are searched no longer than the bound, the small ones first, whatever their order', () => {
    for (let n = 0; n < 100; n += 1) modify(`d${n}.txt`, lines(3_000), lines(3_000).replaceAll('line', 'row'));
    modify('small.txt', 'one\n', 'two\n');
    modify('large.txt', lines(5_000), lines(5_000).replace('line 7\n', 'touch W\n'));
    const searched = budgeted();
    const shown = diffOf(files, searched);
    expect(searched.left).toBeGreaterThanOrEqual(0);
    expect(shown).toContain('@@ -1,1 +1,1 @@\n-one\n+two');
    expect(shown).toContain('-line 7\n+touch W\n');
    expect(shown.match(/too different for a diff/g)).toHaveLength(100);
    expect(diffOf(files)).toBe(shown);
  });

  test('files that have little in common are no search without end', () => {
    modify('a.txt', lines(20_000), lines(20_000).replaceAll('line', 'row'));
    expect(diffOf(files)).toBe('MODIFY a.txt\n208890 bytes -> 188890 bytes, too different for a diff');
  });
});
