/**
 * What a run says to others: `sentinel/tell` to a model that is at work there, `sentinel/answer` to what a run asks. Both
 * happen once for the step, in the run's own name, and within its project.
 *
 * - S1 No model speaks, and none answers: it would speak with the word of the definition.
 * - S2 An answer after which a run does less (`reject`, `skip`, `stop`, `abort`) may be given to every question.
 * - S3 `approve` may be given to what a run asks by itself (an approval step that names nobody), by the command that has
 *      started it: it may do all that this run may. An action, an error and a limit are a person's to decide.
 * - S4 The run of a persona that is a model has besides what a person has granted that persona, for what the persona's own
 *      runs ask (language/rights/answers.ts).
 */
import * as z from 'zod';
import { CHOICES, letsAct, type Answer, type Question } from '../../language/events/question.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { tellBytesMax } from '../../language/limits.ts';
import { Value } from '../../language/model.ts';
import { defined } from '../../language/defined.ts';
import { answerRefusal, GRANTS, type Grant } from '../../language/rights/answers.ts';
import type { Run } from '../../prisma/store/contract/contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import { refuseSpeaking, spokenBy } from '../../operations/brought.ts';
import { type Command, type CommandContext, type Context, defineCommand } from '../../operations/command.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { findRun, Handle } from './commands.ts';

const Id = z.string().min(1).max(1_000);

/** Of the same project. */
async function ownRun(command: string, handle: string, context: CommandContext): Promise<Run> {
  const found = await findRun(handle, context);
  if (found.project === context.run.project) return found;
  throw new Failure(
    'RIGHTS_EXCEEDED',
    `${command}: "${handle}" is a run of another project, and a run speaks to those of its own`,
  );
}

const idOf = (verb: string, { run, key }: CommandContext): string => `${verb} ${run.handle} ${key}`;

const ended = ({ handle, outcome, status }: Run, what: string): Failure =>
  new Failure('RUN_ENDED', `${handle} has ended (${outcome ?? status}); ${what}`);

const TellParams = z.strictObject({ handle: Handle, text: z.string().min(1).max(tellBytesMax), step: Id.optional() });
const Told = z.strictObject({ handle: z.string(), step: z.string(), already: z.boolean() });

async function tell({ handle, text, step }: z.infer<typeof TellParams>, context: CommandContext) {
  refuseSpeaking('speaks to the model of another run', context);
  const found = await ownRun('sentinel/tell', handle, context);
  const id = idOf('tell', context);
  const request = { id, text, by: spokenBy(context), ...defined({ step }) };
  const reply = found.finishedAt === null ? await context.runPort.tell(handle, request) : null;
  if (reply !== null) return { handle, step: reply.step, already: reply.already };
  const before = await toldBefore(found, id, context);
  if (before === null) throw ended(found, 'there is no model to tell');
  return { handle, step: before, already: true };
}

/** An attempt before may have told it, and the run have ended since. */
async function toldBefore({ handle }: Run, id: string, { store }: CommandContext): Promise<string | null> {
  const said = await store.events.latest(handle, ['told'], 1_000);
  return said.find((event) => event.id === id)?.key ?? null;
}

const AnswerParams = z.strictObject({
  handle: Handle,
  question: Id,
  choice: z.enum(CHOICES),
  note: z.string().min(1).max(10_000).optional(),
  data: Value.optional(),
  digest: z.string().min(8).max(64).optional(),
});
type AnswerParams = z.infer<typeof AnswerParams>;

const Answered = z.strictObject({
  handle: z.string(),
  question: z.string(),
  choice: z.string(),
  note: z.string().nullable(),
  data: Value,
  by: z.string(),
  already: z.boolean(),
});

async function answer(given: AnswerParams, context: Context): Promise<JsonObject> {
  const { handle, question: id, choice, note, data, digest } = given;
  refuseSpeaking('answers what a run asks', context);
  const found = await ownRun('sentinel/answer', handle, context);
  const { questions, answered } = await context.runPort.asks(handle);
  const before = answered.findLast((one) => one.id === id);
  if (before !== undefined) return answeredWith(given, before.answer, true);
  const question = questions.find((one) => one.id === id);
  if (question === undefined) {
    if (found.finishedAt !== null) throw ended(found, 'it asks nothing');
    throw new Failure(
      'QUESTION_UNKNOWN',
      `sentinel/answer: "${handle}" does not ask "${id}"; sentinel/result with "until": "asked" says what it asks`,
    );
  }
  await refuseAnswer(given, question, found, context);
  if (digest !== undefined && !question.digest.startsWith(digest))
    throw new Failure(
      'ANSWER_REFUSED',
      `sentinel/answer: what "${id}" asks about is not what "digest" names; look at it again with sentinel/result`,
    );
  const by = spokenBy(context);
  // What was judged is what is answered.
  const request = { id, choice, by, digest: question.digest, ...defined({ note, data }) };
  const reply = await context.runPort.answer(handle, request);
  if (reply === null) throw ended(found, 'it asks nothing');
  return answeredWith(given, reply.answer, reply.already);
}

function answeredWith(
  { handle, question }: Pick<AnswerParams, 'handle' | 'question'>,
  { choice, note, data, by }: Answer,
  already: boolean,
): { [field: string]: Json } {
  return { handle, question, choice, note, data, by, already };
}

async function refuseAnswer(
  { choice, data = null }: AnswerParams,
  question: Question,
  { handle, persona: owner }: Run,
  context: Context,
): Promise<void> {
  if (!letsAct(choice)) return;
  const { persona } = context.run;
  const hasStarted = context.hasStarted?.(handle) === true;
  const may = owner === persona ? await grantsOf(persona, context) : null;
  const why = answerRefusal({ choice, question, data, handle, owner, persona, may, hasStarted });
  if (why !== null)
    throw new Failure(
      'RIGHTS_EXCEEDED',
      `sentinel/answer: ${why}: "sentinel answer ${handle} ${question.id} ${choice}"`,
    );
}

/** Null: it is no model. */
async function grantsOf(persona: string, context: Context): Promise<Grant[] | null> {
  const shown = await context.call('persona/show', { personaId: persona });
  if (!isJsonObject(shown) || shown['kind'] !== 'model') return null;
  const { may } = shown;
  return GRANTS.filter((one) => Array.isArray(may) && may.includes(one));
}

export const speakingCommands: Command[] = [
  defineCommand({
    name: 'sentinel/tell',
    word: 'tell',
    description: 'Tells the model that is at work in a run something, before its next turn.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'controls',
    runParams: ['handle'],
    textParams: ['text'],
    params: TellParams,
    result: Told,
    run: tell,
    predict: ({ handle, step }) => ({
      text: `tells a model of ${simulatedText(handle)} something`,
      source: 'assumed',
      result: { handle: simulatedText(handle), step: simulatedText(step), already: false },
    }),
  }),
  defineCommand({
    name: 'sentinel/answer',
    word: 'answer',
    description: 'Answers what a run asks.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'controls',
    runParams: ['handle'],
    params: AnswerParams,
    result: Answered,
    run: answer,
    predict: ({ handle, question, choice, note = null, data = null }) => ({
      text: `answers ${simulatedText(handle)}`,
      source: 'assumed',
      result: {
        handle: simulatedText(handle),
        question: simulatedText(question),
        choice: simulatedText(choice),
        note,
        data,
        by: 'a run',
        already: false,
      },
    }),
  }),
];
