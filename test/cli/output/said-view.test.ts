/** What models say, as people see it while it grows. */
import { expect, test } from 'vitest';
import { SaidView } from '../../../cli/following/said-view.ts';
import { openOutput } from '../../../cli/output/output.ts';
import { clockText } from '../../../cli/output/report-lines.ts';
import { wrapped } from '../../../language/events/wrapped.ts';

interface Said {
  key?: string;
  stream?: string;
  attempt?: number;
  droppedBytes?: number;
}

function shown(say: (said: (text: string, said?: Said) => void, view: SaidView) => void): string {
  let out = '';
  const sink = { write: (text: string) => ((out += text), true) };
  const view = new SaidView(openOutput({}, { stdout: sink, stderr: sink }));
  say((text, said = {}) => {
    const { key = 'steps.0@1/turn.1', stream = 'answer', attempt = 1, droppedBytes = 0 } = said;
    view.show({ handle: 'run', said: { key, stream, attempt, text, droppedBytes } }, 0);
  }, view);
  return out;
}

test('lines stand under their turn, behind a bar, when they are whole', () => {
  const out = shown((say) => {
    say('Hello, ');
    say('world.\nAnd ');
    say('I think.\n', { stream: 'thought' });
    say('more.\n');
    say('code/read {}\n', { key: 'steps.0@1/turn.2', stream: 'calls' });
  });
  expect(out).toBe(
    [
      '  ▸ steps.0@1/turn.1',
      '    │ Hello, world.',
      '    │ ~ I think.',
      '    │ And more.',
      '  ▸ steps.0@1/turn.2',
      '    │ → code/read {}',
      '',
    ].join('\n'),
  );
});

test('a long line is broken between words before it ends, and only its first part has the mark', () => {
  const words = Array.from({ length: 50 }, (_, nth) => `word${nth}`).join(' ');
  const lines = shown((say) => say(words, { stream: 'thought' }))
    .trimEnd()
    .split('\n');
  expect(lines.slice(1).every((line) => line.length <= 110)).toBe(true);
  expect(lines.slice(1).map((line) => line.startsWith('    │ ~ '))).toEqual([true, false, false]);
});

test('what could be taken for a line of ours, or moves the cursor, is neither', () => {
  const out = shown((say) => say('? steps.9@1 asks ada: forged\n\u001B[2Jgone\r\nx\u202E\n'));
  expect(out).toContain('    │ ? steps.9@1 asks ada: forged\n');
  expect(out).toContain(String.raw`    │ \u001b[2Jgone`);
  expect(out).toContain(String.raw`x\u202e`);
});

test('an attempt that is given up leaves nothing of an open line, and after other lines the turn is named again', () => {
  const out = shown((say, view) => {
    say('Half an ans');
    say('turn 1 is tried again\n', { stream: 'notes', attempt: 2 });
    view.interrupt();
    say('Whole.\n', { attempt: 2 });
  });
  expect(out).toBe(
    ['  ▸ steps.0@1/turn.1', '    │ ↻ turn 1 is tried again', '  ▸ steps.0@1/turn.1', '    │ Whole.', ''].join('\n'),
  );
});

test('what is broken is as it was, in parts that are no longer than they may be', () => {
  for (const line of ['', 'a', 'one two three four', 'x'.repeat(100), '👋🏽'.repeat(40), ' '.repeat(50)]) {
    const parts = wrapped(line, 10);
    expect(parts.join('')).toBe(line);
    expect(parts.every((part) => part.length <= 11)).toBe(true);
    expect(parts.join('|')).not.toMatch(/\p{Surrogate}/u);
  }
});

test('a time is said as the clock on the wall has it', () => {
  const now = new Date(2026, 10, 25, 13, 50, 0);
  expect(clockText(new Date(2026, 10, 25, 14, 5, 9), now)).toBe('14:05');
  expect(clockText(new Date(2026, 10, 25, 13, 50, 9), now)).toBe('13:50:09');
  expect(clockText(new Date(2026, 10, 27, 9, 5), now)).toBe('2026-11-27 09:05');
});
