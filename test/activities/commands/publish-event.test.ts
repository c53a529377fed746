/** Event names are indexed, so they are short; their bytes count, not their characters. */
import { expect, test } from 'vitest';
import { publishEvent } from '../../../operations/events/publish-event.ts';
import { useStore } from '../../store/harness/opened.ts';

const opened = useStore();

async function publish(key: string, name: string): Promise<unknown> {
  const session = opened.store.session();
  try {
    const result = await publishEvent(opened.store, session, { handle: 'run', key, name, data: null });
    await session.commit({ handle: 'run', key, result, events: [] });
    return result;
  } finally {
    await session.close();
  }
}

test.each(['x'.repeat(500), 'é'.repeat(250)])('a name of 500 bytes is published', async (name) => {
  expect(await publish(`fits ${name}`, name)).toEqual({ event: name });
});

test.each(['x'.repeat(501), 'é'.repeat(251), 'x'.repeat(3000)])('a longer one fails the step', async (name) => {
  await expect(publish(`long ${name}`.slice(0, 700), name)).rejects.toMatchObject({
    code: 'VALUE_TOO_LARGE',
    message: expect.stringContaining('500 are allowed'),
  });
});
