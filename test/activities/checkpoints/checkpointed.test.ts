/** Whose steps are between two states. */
import { expect, test } from 'vitest';
import { checkpointed } from '../../../activities/steps/checkpointed.ts';
import { StepCheckpoints } from '../../../operations/checkpoints/step-checkpoints.ts';
import type { CommandContext } from '../../../operations/command.ts';
import { useStore } from '../../store/harness/opened.ts';
import { shellContext } from '../harness/step-context.ts';
import { writtenProject } from '../harness/written-project.ts';

const opened = useStore();

test.each([
  ['readonly', []],
  ['sandboxed', ['shell']],
] as const)('of a step that is %s', async (mode, expected) => {
  const { project, home } = await writtenProject({ 'a.txt': 'a' });
  const rows = opened.store.checkpoints;
  const known = shellContext(project, { confinement: { mode } });
  const context = known as unknown as CommandContext;
  const ran = await checkpointed(
    new StepCheckpoints(rows, home),
    context,
    { what: 'shell', isBackground: false },
    async () => 'done',
  );
  expect(ran).toBe('done');
  expect((await rows.ofRun(known.run.handle)).map(({ what, after }) => after !== null && what)).toEqual(expected);
});
