/** Conversations of runs as training samples, one after the other: no more than one run's are held at a time. */
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import { tokensOf, type TokenUsage } from '../../language/models/token-usage.ts';
import { changed, withoutTokens } from '../../language/secrets.ts';
import type { RunEvent, RunOutcome, StepOutcome } from '../../language/events/run-event.ts';
import type { AskedRuns, Run, Store } from '../../prisma/store/contract/contract.ts';
import { everyEvent } from '../../prisma/store/runs/every-event.ts';
import { chatMessages, chatTool, type ChatMessage, type ChatTool } from './chat-format.ts';
import { conversationsOf, type Transcript } from './transcripts.ts';

export const RUN_OUTCOMES = ['completed', 'failed', 'stopped', 'cancelled'] as const satisfies readonly RunOutcome[];
export const STEP_OUTCOMES = [
  'ok',
  'failed',
  'retried',
  'skipped',
  'cancelled',
] as const satisfies readonly StepOutcome[];

export interface SampleQuery extends AskedRuns {
  /** Only of steps that ended so. */
  stepOutcomes?: readonly StepOutcome[];
  /** Only of runs of this project. */
  project?: string;
}

export interface Sample {
  messages: ChatMessage[];
  tools?: ChatTool[];
  metadata: {
    handle: string;
    name: string;
    key: string;
    /** Of the last turn. */
    model: string | null;
    outcome: RunOutcome | null;
    /** Null where no step of its own had the conversation: a call of a model, say. */
    stepOutcome: StepOutcome | null;
    startedAt: string;
    turns: number;
    tokens: number;
    /** US dollars, of the turns whose price is known. */
    usd: number;
  };
}

export async function* samplesOf(
  store: Store,
  { stepOutcomes, project, ...query }: SampleQuery,
): AsyncGenerator<Sample> {
  for await (const run of store.runs.asked(query)) {
    if (project !== undefined && run.project !== project) continue;
    // A replay says again what the recorded run was answered; who names it has it all the same.
    if (query.handles === undefined && (await store.cassettes.replayed(run.handle)) !== null) continue;
    const ended = await stepsEnded(store, run.handle);
    const { keys, read } = await conversationsOf(store, run.handle);
    for (const key of keys) {
      const stepOutcome = ended.get(key) ?? null;
      if (stepOutcomes !== undefined && (stepOutcome === null || !stepOutcomes.includes(stepOutcome))) continue;
      const transcript = await read(key);
      // What was asked and never answered teaches nothing.
      if (!transcript.messages.some(({ message }) => message['role'] === 'assistant')) continue;
      const head = await store.cassettes.head({ handle: run.handle, conversation: transcript.key });
      yield changed(sampleOf(run, transcript, stepOutcome, head), withoutTokens) as Sample;
    }
  }
}

async function stepsEnded(store: Store, handle: string): Promise<Map<string, StepOutcome>> {
  const ended = new Map<string, StepOutcome>();
  for await (const event of everyEvent(store, handle)) note(ended, event);
  return ended;
}

function note(ended: Map<string, StepOutcome>, event: RunEvent): void {
  if (event.type === 'step-finished') ended.set(event.key, event.outcome);
}

function sampleOf(
  run: Run,
  { key, messages, turns }: Transcript,
  stepOutcome: StepOutcome | null,
  head: JsonObject | null,
): Sample {
  const settings = isJsonObject(head?.['settings']) ? head['settings'] : {};
  const tools = Array.isArray(settings['tools']) ? settings['tools'].filter(isJsonObject).map(chatTool) : [];
  const outcomes = turns.flatMap(({ answer }) => (isJsonObject(answer?.['outcome']) ? [answer['outcome']] : []));
  const { model } = outcomes.at(-1) ?? {};
  return {
    messages: messages.flatMap(({ message }) => chatMessages(message)),
    ...(tools.length === 0 ? {} : { tools }),
    metadata: {
      handle: run.handle,
      name: run.name,
      key,
      model: typeof model === 'string' ? model : null,
      outcome: run.outcome,
      stepOutcome,
      startedAt: new Date(run.startedAt).toISOString(),
      turns: outcomes.length,
      tokens: outcomes.reduce((sum, { usage }) => sum + tokensOf(usage as unknown as TokenUsage), 0),
      usd: outcomes.reduce((sum, { usd }) => sum + (typeof usd === 'number' ? usd : 0), 0),
    },
  };
}
