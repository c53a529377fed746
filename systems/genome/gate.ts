/**
 * The gate of an adapter: the questions that were held out of its training, and questions that have nothing to do with it,
 * asked without it and with it in one process. What is found is of exactly this adapter, and stands.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import * as z from 'zod';
import { defined } from '../../language/defined.ts';
import type { JsonObject } from '../../language/json.ts';
import type { Context } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { Places } from './places.ts';
import { type AdapterRow, gateOf, readsBefore } from './store.ts';
import { ACCELERATOR } from './train.ts';
import { runTrainer } from './trainer.ts';
import { type Answered, tooFew, type Verdict, verdictOf } from './verdict.ts';

/** Tokens of an answer: what is longer is cut, without the adapter and with it. */
const tokensMax = 32;

const Arm = z.object({ answer: z.string(), right: z.boolean() });
const Question = z.object({
  question: z.string(),
  group: z.string().nullable(),
  before: Arm,
  after: Arm,
});
const Report = z.object({
  adapter: z.string(),
  base: z.object({ hash: z.string() }),
  questions: z.object({ heldOut: z.string(), unrelated: z.string() }),
  heldOut: z.array(Question),
  unrelated: z.array(Question),
});
type Report = z.infer<typeof Report>;

const Row = z.object({ fact: z.unknown().optional(), group: z.unknown().optional() });

export async function verdictOn(adapter: AdapterRow, context: Context): Promise<Verdict> {
  const before = await gateOf(readsBefore(context), adapter.id);
  if (before !== null) return before;
  const places = new Places(context.worker.training.folder());
  const questions = questionsOf(adapter, places);
  const report = reportIn(places, adapter) ?? (await asked(adapter, questions, { context, places }));
  return verdictOf(answered(report.heldOut), answered(report.unrelated), adapter.id);
}

/** The file of what was held out; refused where that is too little to say anything. */
function questionsOf({ heldOut }: AdapterRow, places: Places): string {
  const file = heldOut === null ? null : places.rows(heldOut);
  const few = file === null ? tooFew(0, 0) : tooFewIn(file);
  if (file !== null && few === null) return file;
  throw refusal([few ?? '']);
}

function tooFewIn(file: string): string | null {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const groups = new Set(lines.map((line) => groupOf(line)));
  return tooFew(lines.length, groups.size);
}

/** A question that belongs to no fact stands for itself. */
function groupOf(line: string): string {
  const { fact, group } = Row.parse(JSON.parse(line));
  const named = fact ?? group;
  return named === undefined || named === null ? line : JSON.stringify(named);
}

export const refusal = (reasons: readonly string[], verdict?: Verdict): Failure =>
  new Failure('GATE_REFUSED', `the adapter has not passed its gate: ${reasons.join('; ')}`, {
    details: { reasons: [...reasons], ...defined({ gate: verdict }) },
  });

async function asked(
  { id, basePath, match }: AdapterRow,
  questions: string,
  { context, places }: { context: Context; places: Places },
): Promise<Report> {
  if (statSync(basePath, { throwIfNoEntry: false }) === undefined)
    throw new Failure(
      'TRAINING_BASE_UNUSABLE',
      `the model ${basePath} that the adapter was made for is not there any more`,
    );
  await context.lease(...ACCELERATOR);
  const options = ['--report', places.gate(id), '--match', match, '--max-tokens', String(tokensMax)];
  const hear = (line: JsonObject): void => {
    if ('arm' in line) context.heartbeat({ ...line });
  };
  await runTrainer(
    { args: ['gate', places.adapter(id), '--base', basePath, '--questions', questions, ...options], hear },
    context,
  );
  return Report.parse(JSON.parse(readFileSync(places.gate(id), 'utf8')));
}

/** Of the same adapter and base: asked again, they would answer the same. */
function reportIn(places: Places, { id, baseHash }: AdapterRow): Report | null {
  const file = places.gate(id);
  if (!existsSync(file)) return null;
  const read = Report.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  return read.success && read.data.adapter === id && read.data.base.hash === baseHash ? read.data : null;
}

const answered = (questions: Report['heldOut']): Answered[] =>
  questions.map(({ question, group, before, after }) => ({
    group: group ?? question,
    before: before.right,
    after: after.right,
  }));
