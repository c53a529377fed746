/**
 * The picture of the README is the trace of a real run of the definition beside it. Its events were kept with
 * `sentinel trace HANDLE --json > docs/pictures/release.json`; `npx vitest run --project fast
 * test/project/picture.test.ts -u` draws them.
 */
import { expect, test } from 'vitest';
import { traceLines } from '../../client/show/trace.ts';
import type { RunEvent, StepFinished } from '../../language/events/run-event.ts';
import type { Json } from '../../language/json.ts';
import { parseDefinitionText } from '../../language/read/definition.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import { catalogue } from '../catalogue.ts';
import { read } from './tree.ts';
import { PICTURE_PAINT, terminalPicture } from './terminal-picture.ts';

const { handle, events } = JSON.parse(read('docs/pictures/release.json')) as {
  handle: string;
  events: (RunEvent & { data?: Json })[];
};

test('docs/pictures/release.svg shows the run as `sentinel trace` prints it', async () => {
  const data = new Map(events.flatMap(({ key, data: emitted }) => (emitted === undefined ? [] : [[key, emitted]])));
  const emitted = ({ key }: StepFinished): Json => data.get(key) ?? null;
  const lines = traceLines(events, { paint: PICTURE_PAINT, handle, emitted });
  const { dim, strong } = PICTURE_PAINT;
  const picture = terminalPicture(`sentinel trace ${handle}`, [
    `${dim('$')} ${strong(`sentinel trace ${handle}`)}`,
    ...lines,
  ]);
  await expect(picture).toMatchFileSnapshot('../../docs/pictures/release.svg');
});

test('the definition in the README is the one that the run executed', () => {
  const [, text = ''] = /```json\n(\{\n  "name": "release",[\s\S]*?\n\})\n```/.exec(read('README.md')) ?? [];
  const found = parseDefinitionText(text, { catalogue });
  if (!found.ok) throw new Error(JSON.stringify(found.problems));
  const started = events.find((event) => event.type === 'run-started');
  expect(contentHash(found.definition)).toBe(started?.definitionHash);
});
