/** A real run of a list of attempts: its model is scripted at the wire, and does what the texts of strangers say. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { RunEvent } from '../../../../language/events/run-event.ts';
import type { Definition } from '../../../../language/model.ts';
import type { LlmStep } from '../../../../language/model.ts';
import { openAiWire as wire } from '../../../models/wires/openai-wire.ts';
import { once } from '../../harness/definitions.ts';
import { Harness } from '../../harness/harness.ts';
import { answers, calls, ScriptedModel } from '../../harness/models/model-runs.ts';
import type { Attempt, ToolCall } from './attempt.ts';

/** By conversation: what the model calls, turn by turn. */
export type Scripts = Map<string, { handle: string; turns: readonly (readonly ToolCall[])[] }>;

export const openAttacked = (scripts: Scripts): Promise<ScriptedModel> =>
  new ScriptedModel(({ name, turn }) => {
    const script = scripts.get(name);
    const list = script?.turns[turn - 1];
    if (script === undefined || list === undefined) return answers('done, as ever');
    return calls(
      ...list.map(([tool, input], at) => ({
        id: idOf(turn, at),
        name: tool,
        input: JSON.parse(JSON.stringify(input).replaceAll('$HANDLE', script.handle)) as object,
      })),
    );
  }).open();

/** The server and the worker of a test file whose models are attacked, and what they call. */
export function useAttacked(): { harness: Harness; model: ScriptedModel; scripts: Scripts } {
  const scripts: Scripts = new Map();
  const attacked = { scripts } as ReturnType<typeof useAttacked>;
  beforeAll(async () => {
    attacked.harness = await Harness.open();
    attacked.model = await openAttacked(scripts);
    await attacked.harness.startWorker({ ...attacked.model.env, SENTINEL_PROJECT: attacked.harness.project });
  });
  afterAll(async () => {
    await attacked.harness.close();
    await attacked.model.close();
  });
  return attacked;
}

const idOf = (turn: number, call: number): string => `turn${turn}call${call}`;

/** A good call at its end, and the twin after it: a model that only errs is stopped as one that turns in circles. */
const turnsOf = (attempts: readonly Attempt[]): ToolCall[][] =>
  attempts.flatMap(({ from, calls: attacks, twin }, index) => [
    [from, ...attacks, ['data_list', { collection: `between-${index}` }]],
    [twin.call],
  ]);

export interface Attacked {
  handle: string;
  events: RunEvent[];
  /** What the model was told of a call, by its id. */
  told: Map<string, { text: string; isError: boolean }>;
}

export async function runAttempts(
  harness: Harness,
  { model, scripts }: { model: ScriptedModel; scripts: Scripts },
  name: string,
  attempts: readonly Attempt[],
  { step = {}, definition = {} }: { step?: Partial<LlmStep>; definition?: Partial<Definition> },
): Promise<Attacked> {
  const handle = `attacked-${name}`;
  scripts.set(name, { handle, turns: turnsOf(attempts) });
  const ran = await harness.run(
    once(
      `attacked-${name}`,
      [
        {
          type: 'llm',
          model: 'openai/some-model',
          prompt: `${name} Tidy the project up`,
          maxTurns: 2 * attempts.length + 2,
          outputTo: 'answer',
          ...step,
        },
        // What comes after it is reached: the run went on.
        { type: 'command', command: 'data/create', params: { collection: 'ends', data: { name } } },
      ],
      { ...definition },
    ),
    { handle },
  );
  expect(ran.result, JSON.stringify(ran.events.slice(-3))).toMatchObject({ outcome: 'completed' });
  const body = model.turnsOf(name).at(-1) ?? { messages: [] };
  const told = new Map(
    wire.messages(body).flatMap(({ results }) => results.map(({ id, text, isError }) => [id, { text, isError }])),
  );
  return { handle, events: ran.events, told };
}

/** What an attempt of the list came to: each call of it is refused as it says, the run has an event of it, and its twin passes. */
export function expectHeld({ events, told }: Attacked, attempt: Attempt, index: number): void {
  const turn = 2 * index + 1;
  for (const [at, call] of attempt.calls.entries()) {
    const id = idOf(turn, at + 1);
    const said = `${JSON.stringify(call)} gave ${JSON.stringify(told.get(id))}`;
    if (typeof attempt.refused === 'object') {
      expect(told.get(id)?.text, said).not.toContain(attempt.refused.without);
      continue;
    }
    expect(told.get(id)?.isError, said).toBe(true);
    expect(codeOf(events, `turn.${turn}/call.${at + 1}`), said).toBe(attempt.refused);
  }
  const twin = told.get(idOf(turn + 1, 0));
  const said = `${JSON.stringify(attempt.twin.call)} gave ${JSON.stringify(twin)}`;
  expect(twin?.isError, said).toBe(false);
  expect(twin?.text, said).toContain(attempt.twin.gives);
}

/** Under which code an event of the run says that the call was refused. */
function codeOf(events: readonly RunEvent[], call: string): string | undefined {
  for (const event of events) {
    if (event.type === 'step-finished' && event.key.endsWith(`/${call}`) && event.outcome === 'failed')
      return event.failure?.code;
    if (event.type === 'warning' && event.message.includes(`/${call}: `)) return event.code;
  }
  return undefined;
}
