/**
 * `genome/dataset-synthesize`: rows of a data set by a teacher.
 *
 * - S1 Each row says whether a model or a generator made it, and what has checked its answer.
 * - S2 What a gate asks is neither told to the teacher nor taught.
 * - S3 A turn is asked once: an attempt after a lost one finds what was answered. The file appears as a whole, at the end.
 */
import { existsSync } from 'node:fs';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { Value } from '../../language/model.ts';
import { type Context, defineCommand, shortMark } from '../../operations/command.ts';
import { openIn, type OpenedFolder } from '../../operations/files/outside-folders.ts';
import { fileFailure } from '../../operations/files/whole-file.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { refuseSecrets } from '../../operations/signed-documents.ts';
import { Failure } from '../../world/failures/failures.ts';
import { Places } from './places.ts';
import { foldersOf } from './settings.ts';
import { heldOutIn, readsBefore } from './store.ts';
import { Execution, isRight } from './synthesis/execution.ts';
import { type Fact, factsIn, normal } from './synthesis/facts.ts';
import { keptOut } from './synthesis/kept-out.ts';
import { type Check, lineOf, MadeRows, type MadeRow } from './synthesis/rows.ts';
import { Teacher } from './synthesis/teacher.ts';

const [factsMax, wordingsMax, givenMax] = [500, 20, 1_000];
/** Turns in a row that brought nothing new: there is no more to ask about the topic. */
const fruitlessMax = 3;
const synthesisTimeMs = 6 * 3_600_000;

const Params = z
  .strictObject({
    topic: z.string().min(1).max(10_000).optional().describe('what the teacher is to ask and answer questions about'),
    facts: z
      .union([z.string().min(1), z.array(z.record(z.string(), Value)).min(1).max(givenMax)])
      .optional()
      .describe(
        'questions with their right answers, for which the teacher finds other wordings: a list, a .jsonl file, or a data set (the part "train" of it)',
      ),
    teacher: z.string().min(1).default('auto').describe('the model that is asked, as steps name models'),
    count: z.coerce.number().int().min(1).max(factsMax).default(20).describe('different questions about the topic'),
    wordings: z.coerce.number().int().min(1).max(wordingsMax).default(4).describe('of each question'),
    instructions: z.string().min(1).max(10_000).optional().describe('is said to the teacher with each turn'),
    temperature: z.number().min(0).max(2).optional(),
    check: Execution.optional().describe('a program of the project that says whether the answer of a row is right'),
    gate: z
      .union([z.string().min(1), z.array(z.string().min(1)).max(20)])
      .default([])
      .describe('.jsonl files or data sets (the part "gate" of them) whose questions are kept out'),
    outputPath: z
      .string()
      .regex(/\.jsonl$/, 'must end in .jsonl')
      .optional()
      .describe('the file of rows; it is not there yet'),
    domain: z.string().min(1).max(200).optional().describe('stands in each row'),
  })
  .refine(({ topic, facts }) => topic !== undefined || facts !== undefined, 'say what about: "topic", "facts" or both');
type Params = z.infer<typeof Params>;

const Count = z.number().int().nonnegative();
const Made = z.strictObject({
  path: z.string(),
  rows: Count,
  madeBy: z.strictObject({ model: Count, generator: Count }),
  checked: z.strictObject({ key: Count, execution: Count, none: Count }),
  dropped: z.strictObject({ duplicates: Count, contradicted: Count, wrong: Count, heldOut: Count, empty: Count }),
  teacher: z.string(),
});
type Made = z.infer<typeof Made>;

export const synthesize = defineCommand({
  name: 'genome/dataset-synthesize',
  description: 'Has a teacher model make rows of a data set about a topic or from facts, and checks their answers.',
  permission: 'shell',
  speed: 'long',
  timeoutMs: synthesisTimeMs,
  uses: { models: true },
  failures: {
    SYNTHESIS_EMPTY: { title: 'A teacher has made no row that can be used', retryable: false },
    SYNTHESIS_EXISTS: { title: 'There is a file where rows were to be written', retryable: false },
    SYNTHESIS_FACTS_INVALID: { title: 'The facts or gate questions cannot be read', retryable: false },
  },
  textField: 'path',
  textParams: ['topic', 'instructions'],
  params: Params,
  needs: [['topic'], ['facts']],
  result: Made,
  run: synthesized,
  predict: ({ outputPath = 'datasets' }) => ({
    text: `has a teacher make rows in ${simulatedText(outputPath)}`,
    source: 'assumed',
    result: null,
  }),
});

async function synthesized(params: Params, context: Context): Promise<Made> {
  const path = params.outputPath ?? join('datasets', `synthesized-${shortMark(context)}.jsonl`);
  const folder = openIn(dirname(path), context, { create: true, folders: foldersOf(context) });
  if (folder === null) throw new Error('bug: a folder that was made is not there');
  try {
    // Before anything is paid; the file of an attempt that was lost is this one.
    if (context.attempt === 1 && existsSync(join(folder.place, basename(path)))) throw exists(path);
    const gates = { named: [params.gate].flat(), files: await gatesHere(context) };
    const made = new MadeRows(await keptOut(gates, context));
    const teacher = new Teacher({ ...params, model: params.teacher }, context);
    const synthesis = new Synthesis(params, { context, made, teacher });
    if (params.facts !== undefined) await synthesis.fromFacts(await factsIn(params.facts, 'train', context));
    if (params.topic !== undefined) await synthesis.fromTopic(params.count);
    const { rows, dropped } = made;
    if (!rows.some(({ origin }) => origin.madeBy === 'model')) throw nothing(teacher.name, dropped);
    await written(rows, path, { folder, domain: params.domain, context });
    return { path: join(folder.path, basename(path)), ...countsOf(rows), dropped, teacher: teacher.name };
  } catch (error) {
    throw fileFailure(error, path);
  } finally {
    folder.close();
  }
}

/** Of every adapter that was trained in this project. */
async function gatesHere(context: Context): Promise<string[]> {
  const places = new Places(context.worker.training.folder());
  const hashes = await heldOutIn(readsBefore(context), context.run.project);
  return hashes.map((hash) => places.rows(hash)).filter((file) => existsSync(file));
}

interface Parts {
  context: Context;
  made: MadeRows;
  teacher: Teacher;
}

class Synthesis {
  readonly #params: Params;
  readonly #parts: Parts;

  constructor(params: Params, parts: Parts) {
    this.#params = params;
    this.#parts = parts;
  }

  /** Each as it is, and in the wordings from which the teacher finds the same answer again. */
  async fromFacts(given: readonly Fact[]): Promise<void> {
    const { made, teacher, context } = this.#parts;
    made.keepOutOf(given);
    const rows = given.flatMap((one) => made.fit([generated(one)]));
    for (const row of rows) made.add(row);
    for (let from = 0; from < rows.length; from += teacher.factsATurn) {
      // What a turn before has worded may be what a gate asks.
      const facts = rows.slice(from, from + teacher.factsATurn).filter((row) => made.isTaught(row));
      if (facts.length === 0) continue;
      context.heartbeat({ rows: made.rows.length, facts: from });
      const worded = await teacher.word(facts);
      const reworded = facts.flatMap(({ answer, fact }, at) =>
        made.fit(this.#byTeacher(worded[at] ?? [], { answer, fact })).filter((row) => made.isNew(row)),
      );
      const taught = reworded.filter((row) => made.isTaught(row));
      made.dropped.heldOut += reworded.length - taught.length;
      const told = facts.filter((row) => made.isTaught(row));
      if (taught.length > 0) await this.#addRight(await this.#withKey(taught, told));
    }
  }

  async fromTopic(count: number): Promise<void> {
    const { made, teacher, context } = this.#parts;
    for (let [wanted, fruitless] = [count, 0]; wanted > 0 && fruitless < fruitlessMax;) {
      context.heartbeat({ rows: made.rows.length, wanted });
      const taught = await teacher.teach(Math.min(wanted, teacher.factsATurn), made.questions);
      const before = wanted;
      for (const { questions, answer } of taught.slice(0, wanted)) {
        const known = questions.map((question) => made.factOf(question)).find((one) => one !== undefined);
        const fact = known ?? normal(questions[0] ?? '');
        const rows = made.fit(this.#byTeacher(questions, { answer, fact }));
        if (rows.some((row) => made.isNew(row))) wanted -= (await this.#addRight(rows)) ? 1 : 0;
        else for (const row of rows) made.add(row);
      }
      fruitless = wanted < before ? 0 : fruitless + 1;
    }
  }

  #byTeacher(questions: readonly string[], { answer, fact }: Pick<Fact, 'answer' | 'fact'>): MadeRow[] {
    const model = this.#parts.teacher.name;
    return questions
      .slice(0, this.#params.wordings)
      .map((question) => ({ question, answer, fact, origin: { madeBy: 'model', model, checked: [] } }));
  }

  /** What stands in the facts is the key: a wording from which it is not found asks something else, or nothing. */
  async #withKey(rows: readonly MadeRow[], facts: readonly Fact[]): Promise<MadeRow[]> {
    const { made, teacher } = this.#parts;
    const answers = await teacher.answer(
      rows.map(({ question }) => question),
      facts,
    );
    const right = rows.filter(({ answer }, at) => normal(answers[at] ?? '') === normal(answer));
    made.dropped.wrong += rows.length - right.length;
    return right.map((row) => checkedBy('key', row));
  }

  /** Whether one of them stays. */
  async #addRight(rows: readonly MadeRow[]): Promise<boolean> {
    const { made, context } = this.#parts;
    const { check } = this.#params;
    let isOne = false;
    for (const row of rows) {
      const isNew = made.isNew(row);
      if (check !== undefined && isNew && !(await isRight(row, check, context))) {
        made.dropped.wrong += 1;
        continue;
      }
      made.add(check === undefined ? row : checkedBy('execution', row));
      isOne ||= isNew;
    }
    return isOne;
  }
}

/** As it was given. */
const generated = (one: Fact): MadeRow => ({
  ...one,
  origin: { madeBy: 'generator', model: null, checked: ['key'] },
});

const checkedBy = (check: Check, { origin, ...row }: MadeRow): MadeRow => ({
  ...row,
  origin: { ...origin, checked: [...origin.checked, check] },
});

function countsOf(rows: readonly MadeRow[]): Pick<Made, 'rows' | 'madeBy' | 'checked'> {
  const count = (holds: (row: MadeRow) => boolean): number => rows.filter(holds).length;
  return {
    rows: rows.length,
    madeBy: {
      model: count(({ origin }) => origin.madeBy === 'model'),
      generator: count(({ origin }) => origin.madeBy === 'generator'),
    },
    checked: {
      key: count(({ origin }) => origin.checked.includes('key')),
      execution: count(({ origin }) => origin.checked.includes('execution')),
      none: count(({ origin }) => origin.checked.length === 0),
    },
  };
}

interface Written {
  folder: OpenedFolder;
  domain: string | undefined;
  context: Context;
}

/** What an attempt before has written is the same. */
async function written(rows: readonly MadeRow[], path: string, { folder, domain, context }: Written): Promise<void> {
  const text = rows.map((row) => `${JSON.stringify(lineOf(row, domain))}\n`).join('');
  refuseSecrets(text, path, 'take it out of the facts', context);
  const [draft, place] = [
    join(folder.place, `.synthesized-${shortMark(context)}.tmp`),
    join(folder.place, basename(path)),
  ];
  try {
    await rm(draft, { force: true });
    await writeFile(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    context.checkAttempt?.();
    await link(draft, place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if ((await readFile(place, 'utf8')) !== text) throw exists(path);
  } finally {
    await rm(draft, { force: true });
  }
}

const exists = (path: string): Failure =>
  new Failure('SYNTHESIS_EXISTS', `there is a file "${path}" already; give another "outputPath", or leave it out`);

const nothing = (teacher: string, dropped: MadeRows['dropped']): Failure =>
  new Failure(
    'SYNTHESIS_EMPTY',
    `${teacher} has made no row that can be used (${Object.entries(dropped)
      .map(([reason, count]) => `${reason} ${count}`)
      .join(', ')}); say more in "instructions", or ask another "teacher"`,
    { details: { dropped } },
  );
