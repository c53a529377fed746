/**
 * Starts a run from a program, pauses it, edits a step that is still ahead, follows it, and answers its question.
 *
 * The first call that needs the services starts them. Copy this file into a project with Sentinel installed, as
 * `steer-a-run.mts`. Node runs it from version 22.18 on (`node steer-a-run.mts`); on an older Node use
 * `npx tsx steer-a-run.mts`.
 */
import { sentinel } from 'sentinel-engine/builder';
import { SentinelClient } from 'sentinel-engine/client';

const definition = sentinel('release')
  .shell('version', 'echo 1.2.3')
  .approval('verdict', 'Publish this version?', { timeoutMs: 600_000, onTimeout: 'reject' })
  .when(
    (ref) => ref('verdict.approved'),
    (then) => then.shell('published', 'echo published'),
  )
  .build();

const client = new SentinelClient();
try {
  const { handle } = await client.start(definition, { project: process.cwd(), persona: 'local' });

  await client.pause(handle, 'the last step is edited');
  const { revision } = await client.steps(handle);
  await client.edit(handle, {
    op: 'update',
    path: 'steps.2.then.0',
    step: { type: 'shell', command: 'echo "published $version"', outputTo: 'published' },
    revision,
    by: 'local',
  });
  await client.resume(handle);

  for await (const { event } of client.follow(handle)) {
    process.stdout.write(`${event.type}\n`);
    if (event.type === 'asked') await client.answer(handle, { choice: 'approve', by: 'local' });
  }
  const { outcome } = await client.result(handle);
  process.stdout.write(`${handle}: ${outcome ?? 'not ended'}\n`);
} finally {
  await client.close();
}
