/** Secrets in every way of writing, and in two at once; and texts that only look as if they held one. */
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamMask } from '../../../operations/shell/output/stream-mask.ts';
import { Masker, replaced, type Hidden } from '../../../language/masking/masker.ts';
import { randomRuns } from '../../random-runs.ts';
import { parting, printings, writings } from './writings.ts';

const SECRETS = {
  key: `sk-${randomBytes(24).toString('base64url')}`,
  address: `pa/ss+${randomBytes(9).toString('base64')}&x=1%41`,
  quoted: `it's "so" \\ sécret\tñ ${randomBytes(4).toString('hex')}`,
  face: `pass😀word-${randomBytes(6).toString('hex')}`,
};
const hidden = (text: string, shown = '[S]'): Hidden => ({ text, shown, isSecret: true });
const masker = (text: string): Masker => new Masker([hidden(text)]);
/** Whether a stretch is left that says more than a few letters of it. */
function isLeft(masked: string, written: string): boolean {
  for (let at = 0; at + 16 <= written.length; at += 1) if (masked.includes(written.slice(at, at + 16))) return true;
  return false;
}

function streamed(mask: Masker, bytes: Buffer, size: number): string {
  const stream = new StreamMask(mask);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(stream.write(bytes.subarray(at, at + size)));
  return Buffer.concat([...parts, stream.end()]).toString();
}

describe.each(Object.entries(SECRETS))('%s', (_name, secret) => {
  const mask = masker(secret);
  const whole = Object.keys(writings).filter((name) => !parting.includes(name));

  it.each(Object.keys(writings))('written as %s', (name) => {
    const written = writings[name]?.(secret) ?? '';
    for (const text of [written, `before ${written} after`, JSON.stringify({ said: written }), `a\n${written}\nb`]) {
      const masked = mask.text(text);
      expect(masked).toContain('[S]');
      if (!name.startsWith('base64')) expect(isLeft(masked, written)).toBe(false);
    }
  });

  it.each([...whole, 'colours between', 'a link of a terminal between', 'no width between'])(
    'written twice, in the end as %s',
    (outer) => {
      for (const inner of whole) {
        const written = writings[outer]?.(writings[inner]?.(secret) ?? '') ?? '';
        const masked = mask.text(`before ${written} after`);
        expect(masked, `${inner} in ${outer}: ${written}`).toContain('[S]');
      }
    },
  );

  it.each(Object.keys(printings))('printed as %s', (name) => {
    const bytes = Buffer.concat([Buffer.from('a '), printings[name]?.(secret) ?? Buffer.alloc(0), Buffer.from(' z')]);
    const masked = Buffer.from(replaced(bytes, mask.find(bytes))).toString();
    expect(masked).toContain('[S]');
  });

  it.each(Object.keys(writings))('in a stream, however it is cut, as %s', (name) => {
    const written = Buffer.from(`before ${writings[name]?.(secret) ?? ''} after`);
    const once = streamed(mask, written, written.length);
    expect(once).toContain('[S]');
    for (const size of [1, 2, 3, 5, 7, 16]) expect(streamed(mask, written, size)).toBe(once);
  });
});

describe('what is no secret', () => {
  const mask = new Masker(Object.values(SECRETS).map((text) => hidden(text)));
  const plain = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc
      .array(
        fc.constantFrom(
          '%41',
          '\\u0041',
          '\\',
          '"',
          "'",
          '&amp;',
          '=3D',
          '=\r\n',
          'QUJDRA==',
          '41424344',
          '\u001b[0m',
          '\n',
          'é',
          '😀',
          'sk-',
        ),
        { maxLength: 60 },
      )
      .map((parts) => parts.join('')),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  );

  it('stays as it is, to the last byte, whole and in pieces', () => {
    fc.assert(
      fc.property(plain, fc.integer({ min: 1, max: 40 }), (text, size) => {
        expect(mask.text(text)).toBe(text);
        const bytes = Buffer.from(text);
        const stream = new StreamMask(mask);
        const parts: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) parts.push(stream.write(bytes.subarray(at, at + size)));
        expect(Buffer.concat([...parts, stream.end()]).equals(bytes)).toBe(true);
      }),
      randomRuns(2_000),
    );
  });

  it('stays as it is beside a secret', () => {
    const { key } = SECRETS;
    const around = '100% "sure" \\o/ QUJDRA== &amp; =3D é\ud83d\ude00 ';
    expect(mask.text(`${around}${key}${around}`)).toBe(`${around}[S]${around}`);
  });

  it('a short secret is looked for as it is, and as it is escaped, and in nothing that comes by chance', () => {
    const short = masker('1234');
    expect(short.text('pin=1234 \\u0031234 %31%32%33%34')).toBe('pin=[S] [S] [S]');
    for (const text of [
      '1\n2\n3\n4\n',
      '1, 2, 3, 4',
      '"1" "2" "3" "4"',
      '12\u001b[0m34',
      Buffer.from('1234').toString('base64'),
    ])
      expect(short.text(text)).toBe(text);
    expect(masker('87654321').text('8\n7\n6\n5\n4\n3\n2\n1\n')).toBe('8\n7\n6\n5\n4\n3\n2\n1\n');
  });

  it('a word of a sentence is not a secret of several words', () => {
    expect(masker('hello-world-1').text('hello world 1')).toBe('hello world 1');
  });
});

describe('how long it takes', () => {
  const mask = new Masker(Array.from({ length: 20 }, () => hidden(randomBytes(32).toString('base64url'))));
  const size = 2_000_000;
  const repeated = (text: string): string => text.repeat(Math.ceil(size / text.length)).slice(0, size);
  const plain = repeated('const value = call(argument, "text"); // and words\n');
  const took = (text: string): number => {
    const begun = process.cpuUsage();
    mask.text(text);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  };

  it.each([
    ['base64', () => randomBytes((size * 3) / 4).toString('base64')],
    ['base64 of text', () => Buffer.from(plain).toString('base64').slice(0, size)],
    ['hex', () => randomBytes(size / 2).toString('hex')],
    ['backslashes', () => repeated('\\')],
    ['percents', () => repeated('%25')],
    ['ampersands', () => repeated('&am')],
    ['quotes and line ends', () => repeated('"\n')],
    ['an open escape', () => repeated('\u001b]')],
    ['equals', () => repeated('=3D')],
    ['JSON in JSON', () => JSON.stringify(JSON.stringify({ plain })).slice(0, size)],
  ])('%s costs no more than some times what a program costs', (_name, make) => {
    const text = make();
    const least = Math.min(took(plain), took(plain), took(plain));
    const most = Math.min(took(text), took(text));
    expect(most / Math.max(least, 5)).toBeLessThan(15);
  });
});
