/** What edits make of a text, case by case. */
import { describe, expect, it } from 'vitest';
import { applyEdits, type Edit } from '../../../systems/code/editing/apply-edits.ts';
import { editFile } from '../../../systems/code/editing/edit-file.ts';
import type { Failure } from '../../../world/failures/failures.ts';

interface Case {
  name: string;
  text: string;
  edits: Edit[];
  expected: string;
}

const cases: Case[] = [
  {
    name: 'a passage as it is written',
    text: 'const a = 1;\nconst b = 2;\n',
    edits: [{ old: 'b = 2', new: 'b = 3' }],
    expected: 'const a = 1;\nconst b = 3;\n',
  },
  {
    name: 'several, each in what the ones before it left',
    text: 'one\ntwo\n',
    edits: [
      { old: 'one', new: 'three' },
      { old: 'three\ntwo', new: 'four' },
    ],
    expected: 'four\n',
  },
  { name: 'every place', text: 'a a\na\n', edits: [{ old: 'a', new: 'aa', all: true }], expected: 'aa aa\naa\n' },
  {
    name: 'nothing of what `new` refers to is a pattern',
    text: 'x\n',
    edits: [{ old: 'x', new: "$& $1 $$ $'" }],
    expected: "$& $1 $$ $'\n",
  },
  {
    name: 'the line ends of the file, for a passage given with others',
    text: 'a\r\nb\r\nc\r\n',
    edits: [{ old: 'a\nb', new: 'a\nx\nb' }],
    expected: 'a\r\nx\r\nb\r\nc\r\n',
  },
  {
    name: 'no carriage returns in a file without',
    text: 'a\nb\n',
    edits: [{ old: 'a\r\nb', new: 'x\r\ny' }],
    expected: 'x\ny\n',
  },
  {
    name: 'other lines as they are, mixed ends and all',
    text: 'a \r\nb\n\tc  \nd',
    edits: [{ old: 'b', new: 'B' }],
    expected: 'a \r\nB\n\tc  \nd',
  },
  {
    name: 'a passage that is indented otherwise, with the indentation of the file',
    text: 'class A {\n    run() {\n        go();\n    }\n}\n',
    edits: [{ old: 'run() {\n  go();\n}', new: 'run() {\n  if (a) {\n    go();\n  }\n}' }],
    expected: 'class A {\n    run() {\n        if (a) {\n            go();\n        }\n    }\n}\n',
  },
  {
    name: 'tabs where the passage was given with spaces',
    text: 'if (a) {\n\tgo();\n}\n',
    edits: [{ old: 'if (a) {\n    go();\n}', new: 'if (a) {\n    if (b) {\n        go();\n    }\n}' }],
    expected: 'if (a) {\n\tif (b) {\n\t\tgo();\n\t}\n}\n',
  },
  {
    name: 'spaces where the passage was given with tabs',
    text: 'if (a) {\n  go();\n}\n',
    edits: [{ old: 'if (a) {\n\tgo();\n}', new: 'if (a) {\n\tif (b) {\n\t\tgo();\n\t}\n}' }],
    expected: 'if (a) {\n  if (b) {\n    go();\n  }\n}\n',
  },
  {
    name: 'a passage with blanks at the ends of its lines that the file has not',
    text: 'a = 1;\n\nb = 2;\n',
    edits: [{ old: 'a  =  1;  \nb = 2;', new: 'c = 3;' }],
    expected: 'c = 3;\n',
  },
  {
    name: 'a whole line that is taken out, indented otherwise',
    text: 'f() {\n    a();\n    b();\n}\n',
    edits: [{ old: '  a();\n', new: '' }],
    expected: 'f() {\n    b();\n}\n',
  },
  {
    name: 'a passage within a line',
    text: 'call(a,  b);\n',
    edits: [{ old: 'call(a, b)', new: 'call(b)' }],
    expected: 'call(b);\n',
  },
  {
    name: 'an exact place before one with other white space',
    text: '  a( b );\na( b );\n',
    edits: [{ old: '\na( b );', new: '\na();' }],
    expected: '  a( b );\na();\n',
  },
  { name: 'no new end of the last line', text: 'a\nb', edits: [{ old: 'b', new: 'c' }], expected: 'a\nc' },
];

it.each(cases)('$name', ({ text, edits, expected }) => {
  expect(applyEdits(text, edits, 'a.ts')).toBe(expected);
});

function failureOf(text: string, edits: Edit[]): Failure {
  try {
    applyEdits(text, edits, 'a.ts');
  } catch (error) {
    return error as Failure;
  }
  throw new Error('it was edited');
}

describe('what is refused', () => {
  it('a passage that is there twice, with the lines', () => {
    const failure = failureOf('go();\nstop();\n  go();\n', [{ old: 'go();', new: 'run();' }]);
    expect(failure).toMatchObject({
      code: 'PASSAGE_AMBIGUOUS',
      details: {
        count: 2,
        candidates: [
          { line: 1, text: 'go();' },
          { line: 3, text: '  go();' },
        ],
      },
    });
    expect(failure.message).toContain('3:   go();');
  });

  it('one that is there twice but for white space', () => {
    expect(failureOf('a( b );\na(  b );\n', [{ old: 'a(   b );', new: '' }])).toMatchObject({
      code: 'PASSAGE_AMBIGUOUS',
      details: { candidates: [{ line: 1 }, { line: 2 }] },
    });
  });

  it('one that is not there, with what is most like it', () => {
    const text = 'import a from "a";\n\nexport function total(items) {\n  return items.lenght;\n}\n';
    const failure = failureOf(text, [
      { old: 'import a', new: 'import b' },
      { old: 'function total(items) {\n  return items.length;', new: '' },
    ]);
    expect(failure).toMatchObject({ code: 'PASSAGE_NOT_FOUND', details: { nearest: { line: 3 } } });
    expect(failure.message).toMatch(/^edit 2 of 2: "a\.ts": .* line 3 \(\d+ %\):\nexport function total/);
  });

  it('one that is like nothing', () => {
    const failure = failureOf('a\nb\n', [{ old: 'something else altogether', new: '' }]);
    expect(failure).toMatchObject({ code: 'PASSAGE_NOT_FOUND', details: { nearest: null } });
  });
});

it('leaves a byte order mark where it is, and says what it changed', () => {
  const before = Buffer.from('\uFEFFone\r\ntwo\r\n');
  const { after, result } = editFile(before, [{ old: 'one\ntwo', new: 'one\nthree' }], 'a.txt');
  expect(after.toString()).toBe('\uFEFFone\r\nthree\r\n');
  expect(result).toMatchObject({ path: 'a.txt', edits: 1, firstLine: 2 });
  expect(result.diff).toContain('-two');
});

it('refuses what is no text', () => {
  for (const bytes of [Buffer.from([0x61, 0xff]), Buffer.from('a\0b')])
    expect(() => editFile(bytes, [{ old: 'a', new: 'b' }], 'a.bin')).toThrow('is no text in UTF-8');
});
