/** What a terminal obeys, or nobody sees, is shown as an escape; our own colours are not. */
import { stripVTControlCharacters } from 'node:util';
import { assert, dictionary, oneof, property, string } from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { shownLength } from '../../../cli/output/ink.ts';
import { openOutput, type Streams } from '../../../cli/output/output.ts';
import { spun } from '../../../cli/output/spinner.ts';
import { table } from '../../../cli/output/table.ts';
import { visible } from '../../../language/events/visible.ts';
import { randomRuns } from '../../random-runs.ts';

const UNSEEN = /[^\P{C}\n\t\p{Co}\p{Cn}]|[\p{Zl}\p{Zp}]/u;

describe('visible', () => {
  test.each([
    ['colours', '\u001B[31mred\u001B[0m', String.raw`\u001b[31mred\u001b[0m`],
    ['the title', '\u001B]0;x\u0007', String.raw`\u001b]0;x\u0007`],
    ['the clipboard', '\u001B]52;c;eA==\u001B\\', String.raw`\u001b]52;c;eA==\u001b` + '\\'],
    ['C1', '\u009B2J\u0085\u007F', String.raw`\u009b2J\u0085\u007f`],
    ['moves', 'a\rb\bc\vd\fe\0', String.raw`a\u000db\u0008c\u000bd\u000ce\u0000`],
    ['directions', '\u202E\u202D\u2066\u2069\u200F\u061C', String.raw`\u202e\u202d\u2066\u2069\u200f\u061c`],
    [
      'widths of nothing',
      'a\u200Bb\u2060c\uFEFFd\u00ADe\u3164f\u034Fg',
      String.raw`a\u200bb\u2060c\ufeffd\u00ade\u3164f\u034fg`,
    ],
    ['lines', 'a\u2028b\u2029c', String.raw`a\u2028b\u2029c`],
    ['tags', 'a\u{E0041}b', String.raw`a\udb40\udc41b`],
    ['half a pair', 'a\uD800b', String.raw`a\ud800b`],
    ['a joiner between letters', 'a\u200Db\uFE0F', String.raw`a\u200db\ufe0f`],
  ])('%s', (_what, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test('what can be seen stays: letters of any script, pictures, tabs and newlines', () => {
    for (const text of ['Grüße, 你好, שלום, नमस्ते', 'a\tb\nc', '⚠️ 👩‍💻 ❤️‍🔥 🇩🇪', '\u00A0 – …'])
      expect(visible(text)).toBe(text);
  });

  test('JSON stays the same JSON, and nothing is left that a terminal obeys', () => {
    const anyText = string({ unit: 'binary' });
    assert(
      property(oneof(anyText, dictionary(anyText, anyText)), (value) => {
        const text = JSON.stringify(value, null, 2);
        expect(JSON.parse(visible(text))).toEqual(JSON.parse(text));
        expect(visible(text).replaceAll(/(?<=\p{Extended_Pictographic}\uFE0F?)\u200D/gu, '')).not.toMatch(UNSEEN);
      }),
      randomRuns(1_000),
    );
  });
});

interface Written {
  out: string;
  err: string;
}

function written(isTTY: boolean, say: (output: ReturnType<typeof openOutput>) => void, json = false): Written {
  const all: Written = { out: '', err: '' };
  const to = (name: keyof Written): Streams['stdout'] => ({
    isTTY,
    write: (text: string) => Boolean((all[name] += text)),
  });
  say(openOutput({ json }, { stdout: to('out'), stderr: to('err') }));
  return all;
}

describe('output', () => {
  beforeEach(() => {
    vi.stubEnv('NO_COLOR', '');
    vi.stubEnv('FORCE_COLOR', '');
    vi.stubEnv('TERM', 'xterm');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const hostile = 'x\u001B[2J\u202E\r\ny';

  test.each([true, false])('escapes what it is given (on a terminal: %s), and keeps a line one', (isTTY) => {
    const { out, err } = written(isTTY, ({ line, note }) => {
      line(`says ${hostile}`);
      note(`notes ${hostile}`);
    });
    expect(out).toBe(`${String.raw`says x\u001b[2J\u202e`}\n  │ y\n`);
    expect(err).toBe(`${String.raw`notes x\u001b[2J\u202e`}\n  │ y\n`);
  });

  test('its own colours are colours, inside one another too, and what is in them is escaped', () => {
    const { out } = written(true, ({ line, paint }) => {
      line(paint.bad(`a${paint.strong(hostile)}b`));
    });
    expect(out).toBe(`\u001B[31ma\u001B[1m${String.raw`x\u001b[2J\u202e`}\n  │ y\u001B[22mb\u001B[39m\n`);
  });

  test('a colour that is cut off, or that somebody else wrote, ends with its line', () => {
    const { out } = written(true, ({ line, paint }) => {
      const painted = paint.good('XYZ');
      line(painted.slice(0, painted.indexOf('Z')));
      line('\u0001good\u0002forged\u0001end\u0002');
    });
    expect(out).toBe(`\u001B[32mXY\u001B[39m\n${String.raw`\u0001good\u0002forged\u0001end\u0002`}\n`);
  });

  test('JSON says the same, in escapes', () => {
    const { out } = written(
      false,
      ({ object, line }) => {
        object({ [hostile]: hostile });
        line('not this');
      },
      true,
    );
    expect(JSON.parse(out)).toEqual({ [hostile]: hostile });
    expect(out).not.toMatch(UNSEEN);
  });

  test('only what was printed by a process is passed on, where that is asked for', () => {
    expect(written(true, ({ raw }) => raw(hostile)).out).toBe(`${hostile}\n`);
  });

  test('columns are as wide as what is shown in them', () => {
    const { out } = written(true, ({ line, paint }) => {
      for (const text of table(
        ['A', 'B'],
        [
          [paint.good('\u001B'), 'b'],
          ['long enough', 'b'],
        ],
        paint,
      ))
        line(text);
    });
    const lines = stripVTControlCharacters(out).trimEnd().split('\n');
    expect(lines).toEqual(['A            B', String.raw`\u001b       b`, 'long enough  b']);
    expect(shownLength('\u001B')).toBe(6);
  });

  test('the line that moves is one line', () => {
    expect(spun('a\u001B]0;t\u0007\nb', 80)).toBe(String.raw`a\u001b]0;t\u0007 b`);
    expect(spun('x'.repeat(100), 20)).toHaveLength(20);
  });
});
