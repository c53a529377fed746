/** The types of commands are those of their schemas: the compiler, `validate` and models are told the same. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInParameters } from '../../../systems/catalogue.ts';
import { root } from '../../project/tree.ts';
import { commandTypes } from './command-types.ts';

test('authoring/builder/built-in-commands.ts is what the schemas say', async () => {
  await expect(await commandTypes(builtInParameters())).toMatchFileSnapshot(
    join(root, 'authoring/builder/built-in-commands.ts'),
  );
});
