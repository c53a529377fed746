/**
 * Our own colours. Verbs colour text by marks that nobody else can write, because they hold a word made when
 * the program starts; what is not ours is escaped first, and the marks that are left become colours.
 */
import { randomBytes } from 'node:crypto';
import pc from 'picocolors';
import { visible } from '../../language/events/visible.ts';
import { PLAIN, type Paint } from '../../client/show/paint.ts';

const { green, red, yellow, dim, bold } = pc.createColors(true);
const COLOURS: Readonly<Record<keyof Paint, (text: string) => string>> = {
  good: green,
  bad: red,
  warn: yellow,
  dim,
  strong: bold,
};

const word = randomBytes(9).toString('hex');
const mark = (name: keyof Paint | 'end'): string => `\u0001${word} ${name}\u0002`;
const MARKS = new RegExp(`\u0001${word} (\\w+)\u0002`, 'u');

const inked =
  (name: keyof Paint) =>
  (text: string): string =>
    mark(name) + text + mark('end');

const INK: Paint = {
  good: inked('good'),
  bad: inked('bad'),
  warn: inked('warn'),
  dim: inked('dim'),
  strong: inked('strong'),
};

/** Paint for a stream that takes colours, unless the environment refuses them, or for one that it forces them on. */
export function paintFor(isTerminal: boolean, { NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv = process.env): Paint {
  const forced = FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  const refused =
    (NO_COLOR !== undefined && NO_COLOR !== '') || TERM === 'dumb' || FORCE_COLOR === '0' || FORCE_COLOR === 'false';
  return !forced && (refused || !isTerminal) ? PLAIN : INK;
}

/** What may be written: everything escaped but our colours. */
export function rendered(text: string): string {
  const open: { colour: (text: string) => string; text: string }[] = [{ colour: (all) => all, text: '' }];
  const close = (): void => {
    const { colour, text: inner } = open.pop() ?? { colour: String, text: '' };
    const around = open.at(-1);
    if (around !== undefined) around.text += inner === '' ? '' : colour(inner);
  };
  for (const [nth, piece] of text.split(MARKS).entries()) {
    const current = open.at(-1);
    if (nth % 2 === 0) {
      if (current !== undefined) current.text += visible(piece);
    } else if (piece !== 'end') open.push({ colour: COLOURS[piece as keyof Paint], text: '' });
    else if (open.length > 1) close();
  }
  while (open.length > 1) close();
  return open[0]?.text ?? '';
}

/** Characters that `rendered` shows, colours aside. */
export function shownLength(text: string): number {
  return Array.from(
    visible(
      text
        .split(MARKS)
        .filter((_, nth) => nth % 2 === 0)
        .join(''),
    ),
  ).length;
}
