/**
 * Hand-written workflows that do what the measured definitions do, as a person would write them for
 * Temporal: no summaries, no ids of their own. Like a run, they keep the search attributes up to date.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { executeChild, proxyActivities, proxyLocalActivities, upsertSearchAttributes } from '@temporalio/workflow';
import type { Kind, Shape } from '../definitions.ts';
import type { ChatMessage } from '../agents/bare.ts';
import type { TwinActivities } from './activities.ts';

const { 'bench/noop': noop, runShell: shell } = proxyActivities<TwinActivities>({ startToCloseTimeout: '1 minute' });
const agents = proxyActivities<TwinActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '1 second' },
});
const local = proxyLocalActivities<TwinActivities>({ startToCloseTimeout: '1 minute' });

const status = defineSearchAttributeKey('SentinelStatus', SearchAttributeType.KEYWORD);
const iteration = defineSearchAttributeKey('SentinelIteration', SearchAttributeType.INT);

function finished(passes: number): void {
  upsertSearchAttributes([
    { key: status, value: 'completed' },
    { key: iteration, value: passes },
  ]);
}

export async function sequence(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await noop({ index });
  finished(1);
}

export async function loop(count: number): Promise<void> {
  for (let pass = 1; pass <= count; pass += 1) await noop({ pass });
  finished(count);
}

export async function branch(count: number): Promise<void> {
  for (let pass = 1; pass <= count; pass += 1) await (pass % 2 === 0 ? noop({ even: pass }) : noop({ odd: pass }));
  finished(count);
}

export async function fan(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => noop({ index })));
  finished(1);
}

/** The other way to repeat a definition: a child workflow for each pass. */
export async function childLoop(count: number): Promise<void> {
  for (let pass = 1; pass <= count; pass += 1) await executeChild(onePass, { args: [pass] });
  finished(count);
}

export async function onePass(pass: number): Promise<void> {
  await noop({ pass });
}

/** An agent as the samples have it: the conversation is the workflow's state. */
export async function agent(model: string, prompt: string): Promise<void> {
  const messages: ChatMessage[] = [{ role: 'user', content: prompt }];
  for (;;) {
    const { message, call } = await agents.askModel(model, messages);
    messages.push(message);
    if (call === null) return finished(1);
    messages.push({ role: 'tool', tool_call_id: call.id, content: await agents.perform(call) });
  }
}

export async function localSteps(kind: Kind, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await localStep(kind, index);
  finished(1);
}

export async function localFan(kind: Kind, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => localStep(kind, index)));
  finished(1);
}

export async function shellSteps(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await shell(index);
  finished(1);
}

export async function shellFan(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => shell(index)));
  finished(1);
}

function localStep(kind: Kind, index: number): Promise<unknown> {
  switch (kind) {
    case 'code-read':
      return local.readFile('notes.txt');
    case 'data-read':
      return local.readRow('row');
    case 'data-create':
      return local.writeRow(index);
    case 'shell':
      return local.runShell(index);
    default:
      return kind satisfies never;
  }
}

export type TwinWorkflow = Shape | 'childLoop' | 'localSteps' | 'localFan' | 'shellSteps' | 'shellFan' | 'agent';
