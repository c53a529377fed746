/** A process is its run's: whoever works out its id in another run neither reads it nor says how it is read. */
import { expect, test } from 'vitest';
import type { WatchResult } from '../../../operations/shell/watch.ts';
import { openRun, texts } from '../background/background-run.ts';
import { useStore } from '../../store/harness/opened.ts';

const opened = useStore();
const RULES = [{ pattern: '.', classification: 'error', action: 'emit' }];

test('another run finds no process by its id; the own one and those nested in it do', async () => {
  const [own, other] = [await openRun(opened), await openRun(opened)];
  const { executionId } = await own.start('echo s3cret');
  const missing = { code: 'EXECUTION_NOT_FOUND' };
  await expect(other.run('code/shell/watch', { executionId })).rejects.toMatchObject(missing);
  await expect(other.run('code/shell/watch', { executionId, rules: RULES })).rejects.toMatchObject(missing);
  await expect(other.run('code/shell/sentinel', { executionId, rules: RULES })).rejects.toMatchObject(missing);
  expect((await opened.store.executions.find(executionId))?.rules).toBeNull();
  const nested = {
    run: { handle: `${own.handle}/steps.1@1`, project: own.project, persona: 'ada', definitionHash: 'h' },
  };
  for (const over of [{}, nested])
    expect(texts(await own.run<WatchResult>('code/shell/watch', { executionId }, over))).toEqual(['s3cret']);
});
