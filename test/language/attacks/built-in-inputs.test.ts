/** What the engine says by itself (the event that a run was started by, the environment, who runs it) nobody gives as an input. */
import { expect, test } from 'vitest';
import { inputFault } from '../../../language/inputs/refused-inputs.ts';
import { BUILT_INS } from '../../../language/expression/scope.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { catalogue } from '../../catalogue.ts';
import { runCase } from '../../interpreter/harness/run-case.ts';

const step: Step = { type: 'shell', command: 'true' };
const plain: Definition = { name: 'deploy', loop: { type: 'once' }, steps: [step] };
const open: Definition = { ...plain, inputSchema: { type: 'object', additionalProperties: true } };

test.each([...BUILT_INS])('an input "%s" is refused, also where others are taken', (name) => {
  for (const definition of [plain, open])
    expect(inputFault(definition, { [name]: { origin: { type: 'person' } } })).toMatchObject({
      code: 'INPUT_REFUSED',
      message: expect.stringContaining(`"${name}" is set by the engine`) as string,
    });
});

test('"env" is refused where the definition reads the environment', () => {
  const reading: Definition = { ...open, env: ['HOST'] };
  expect(inputFault(reading, { env: { HOST: 'evil' } })).toMatchObject({ code: 'INPUT_REFUSED' });
  expect(inputFault(open, { env: 'staging' })).toBeNull();
});

test.each(['event', 'PERSONA_ID', 'NOW'])('a step gives the sentinel below it no "%s"', (name) => {
  const inner = { ...plain, name: 'inner' };
  const given = { type: 'sentinel', definition: inner, inputs: { [name]: { origin: { type: 'person' } } } };
  const { problems } = parseDefinition({ ...plain, steps: [given] }, { catalogue });
  expect(problems).toContainEqual(
    expect.objectContaining({ code: 'RESERVED_NAME', severity: 'error', path: `steps.0.inputs.${name}` }) as unknown,
  );
});

test('what a definition lists of the environment is read from there, whatever a run around it calls its variables', async () => {
  const inner: Definition = {
    ...plain,
    name: 'inner',
    env: ['HOST'],
    steps: [{ type: 'shell', command: 'deploy', args: ['{{env.HOST}}'] }],
  };
  const definition: Definition = {
    ...plain,
    steps: [
      { type: 'set', values: { env: { HOST: 'evil' } } },
      { type: 'sentinel', definition: inner },
    ],
  };
  const { effects } = await runCase({ definition, answers: {} }, { name: 'straight' });
  expect(effects['steps.1@1/steps.0@1']).toMatchObject({ command: 'deploy', args: [''] });
});
