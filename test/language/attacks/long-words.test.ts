/** Words of a definition as long as it may be: refused at once, and quoted in short. */
import { expect, test } from 'vitest';
import { parseDefinition } from '../../../language/read/definition.ts';
import { catalogue } from '../../catalogue.ts';

const word = 'x'.repeat(500_000);
const step = { type: 'shell', command: 'true' };

test.each<[string, object]>([
  ['a time zone', { trigger: { type: 'schedule', cronExpression: '* * * * *', timeZone: word } }],
  ['a key', { [word]: 1 }],
  ['a mode', { mode: word }],
  ['a type of step', { steps: [{ type: word }] }],
  ['a key of a step', { steps: [{ ...step, [word]: 1 }] }],
  ['a command', { steps: [{ type: 'command', command: word }] }],
  ['an event', { steps: [{ type: 'emit', event: `${word} a` }] }],
  ['a tool and a model', { steps: [{ type: 'llm', prompt: 'a', tools: [word], model: word }] }],
  ['a name that is set', { steps: [{ type: 'set', values: { [`${word} a`]: 1 } }] }],
])('%s', (_what, said) => {
  const { problems } = parseDefinition({ name: 'long', loop: { type: 'once' }, steps: [step], ...said }, { catalogue });
  expect(problems).not.toEqual([]);
  for (const { message, fix = '' } of problems) {
    expect(message.length).toBeLessThan(2_100);
    expect(fix.length).toBeLessThan(2_100);
  }
});

test('what is said of words of an ordinary length is said whole', () => {
  const { problems } = parseDefinition(
    { name: 'long', loop: { type: 'once' }, steps: [step], mode: 'y'.repeat(200) },
    { catalogue },
  );
  expect(problems).toMatchObject([{ message: expect.stringContaining('y'.repeat(200)) as string }]);
});
