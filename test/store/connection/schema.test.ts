/** The migrations and schema.prisma describe one database: Prisma can read and write every table. */
import { PrismaPg } from '@prisma/adapter-pg';
import { expect, test } from 'vitest';
import { PrismaClient } from '../../../prisma/generated/client.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

test('Prisma reads every table with all its columns', async () => {
  const prisma = new PrismaClient({ adapter: new PrismaPg(opened.database.url) });
  try {
    const found = await Promise.all([
      prisma.definition.findMany(),
      prisma.savedSentinel.findMany(),
      prisma.savedVersion.findMany(),
      prisma.run.findMany(),
      prisma.runEvent.findMany(),
      prisma.logChunk.findMany(),
      prisma.payload.findMany(),
      prisma.journalEntry.findMany(),
      prisma.record.findMany(),
      prisma.publishedEvent.findMany(),
      prisma.eventSubscription.findMany(),
      prisma.execution.findMany(),
      prisma.executionLines.findMany(),
      prisma.trigger.findMany(),
      prisma.triggerStart.findMany(),
      prisma.sealedValue.findMany(),
      prisma.webhookMessage.findMany(),
      prisma.inboxItem.findMany(),
      prisma.message.findMany(),
      prisma.conversationMessage.findMany(),
      prisma.turn.findMany(),
      prisma.call.findMany(),
      prisma.spending.findMany(),
      prisma.incident.findMany(),
      prisma.lostStep.findMany(),
      prisma.rawAnswer.findMany(),
      prisma.checkpoint.findMany(),
      prisma.systemTable.findMany(),
      prisma.eventCursor.findMany(),
      prisma.permit.findMany(),
      prisma.lease.findMany(),
      prisma.leasePlace.findMany(),
      prisma.personaLimit.findMany(),
      prisma.circuit.findMany(),
      prisma.delivery.findMany(),
      prisma.requestMessage.findMany(),
      prisma.modelRequest.findMany(),
      prisma.runRoot.findMany(),
      prisma.replay.findMany(),
      prisma.replayedRequest.findMany(),
      prisma.evaluation.findMany(),
    ]);
    expect(found.flat()).toMatchObject([
      { system: 'chat', name: 'messages' },
      { system: 'chat', name: 'threads' },
      { system: 'cycle', name: 'cycles' },
      { system: 'genome', name: 'genome' },
      { system: 'genome', name: 'origins' },
      { system: 'genome', name: 'trainings' },
      { system: 'genome', name: 'trainings_over' },
      { system: 'inbox', name: 'items' },
      { system: 'memory', name: 'entries' },
      { system: 'memory', name: 'meanings' },
      { system: 'memory', name: 'meaningsOfProjects' },
      { system: 'persona', name: 'entries' },
      { system: 'persona', name: 'groups' },
      { system: 'persona', name: 'grants' },
      { name: 'triggers', position: 0n },
      { name: 'waiting runs', position: 0n },
    ]);
    expect(await prisma.installation.findMany()).toEqual([
      { id: expect.stringMatching(/^[\da-f-]{36}$/) as string, sealKey: null },
    ]);
  } finally {
    await prisma.$disconnect();
  }
});

test('no table is missing from the schema but those of systems', async () => {
  const rows = await opened.database.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename !~ '^(chat|cycle|genome|inbox|memory|persona)_' order by 1`,
  );
  expect(rows.map((row) => row.name)).toEqual([
    '_prisma_migrations',
    'calls',
    'checkpoints',
    'circuits',
    'conversation_messages',
    'definitions',
    'deliveries',
    'evaluations',
    'event_cursors',
    'event_subscriptions',
    'execution_lines',
    'executions',
    'inbox',
    'incidents',
    'installation',
    'journal',
    'lease_places',
    'leases',
    'limits_of_personas',
    'log_chunks',
    'lost_steps',
    'messages',
    'model_requests',
    'payloads',
    'permits',
    'published_events',
    'raw_answers',
    'records',
    'replayed_requests',
    'replays',
    'request_messages',
    'run_events',
    'run_roots',
    'runs',
    'saved_sentinels',
    'saved_versions',
    'sealed_values',
    'spending',
    'steps_of_personas',
    'system_background',
    'system_tables',
    'trigger_starts',
    'triggers',
    'turns',
    'waits_for_days',
    'webhook_messages',
  ]);
});
