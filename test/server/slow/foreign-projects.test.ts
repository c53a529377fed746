/** The example that builds until it passes, on projects that were not written here, each with a fault put in. */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Harness } from '../harness/harness.ts';
import { commitAll, git, listModel, shippedExample } from '../harness/models/broken-project.ts';
import { buildOf, PACKAGES, passes, putFault, TOOLS, unpack } from '../harness/models/foreign-project.ts';
import { answers, calls, ScriptedModel } from '../harness/models/model-runs.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await Harness.open();
});
afterEach(() => harness.close());

test.for(PACKAGES)('$name is mended', async (wanted, { skip }) => {
  const { project } = harness;
  if ((await unpack(wanted, project)) === null) skip('its registry is out of reach');
  appendFileSync(join(project, '.gitignore'), `\n.sentinel\n__pycache__\n${TOOLS}\n`);
  expect(await passes(project, wanted)).toBe(true);
  const whole = readFileSync(join(project, wanted.source), 'utf8');
  const { right, wrong } = await putFault(project, wanted);
  commitAll(project);
  const model = await new ScriptedModel(({ turn }) => {
    if (turn === 1)
      return calls({ id: 'search', name: 'code_search', input: { pattern: [wrong.trim()], glob: '*.py' } });
    // The line as it was found, without its indentation.
    const edit = { path: wanted.source, old: wrong.trim(), new: right.trim() };
    return turn === 2 ? calls({ id: 'edit', name: 'code_edit', input: edit }) : answers('The line was wrong.');
  }).open();
  try {
    listModel(model);
    await harness.startWorker({ ...model.env, PYTHONDONTWRITEBYTECODE: '1' });
    const example = { ...shippedExample('build-fix-loop'), timeoutMs: 600_000 };
    const { result } = await harness.run(example, { inputs: { command: buildOf(wanted) } });
    expect(result).toMatchObject({ outcome: 'completed', iterations: 2 });
    expect(readFileSync(join(project, wanted.source), 'utf8')).toBe(whole);
    expect(await passes(project, wanted)).toBe(true);
    expect(git(project, 'log', '--format=%s').split('\n')[0]).toBe('Build passes');
    // The search led to the line.
    const told = JSON.stringify(model.double.asked.map(({ body }) => body));
    expect(told).toContain(JSON.stringify(JSON.stringify(wrong).slice(1, -1)).slice(1, -1).slice(0, 40));
  } finally {
    await model.close();
  }
});
