/** What a teacher is asked for, turn by turn: each is a conversation of its own, kept under the key of the step, and paid once. */
import * as z from 'zod';
import type { Json, JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import type { Context } from '../../../operations/command.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { type Fact, normal } from './facts.ts';

/** Wordings that a turn is asked for, and questions that are named to it so that it does not ask them again. */
const [wordingsATurn, namedAgain] = [40, 60];
/** A turn that fails so has taught nothing; the next one may. */
const FRUITLESS = new Set(['MODEL_ANSWER_INVALID', 'MODEL_CONTENT_REFUSED']);

export interface Asked {
  model: string;
  temperature?: number | undefined;
  /** Of each fact. */
  wordings: number;
  topic?: string | undefined;
  instructions?: string | undefined;
}

/** Several ways to ask the same. */
export interface Taught {
  questions: string[];
  answer: string;
}

const list = (item: JsonObject): JsonObject => ({
  type: 'object',
  properties: { rows: { type: 'array', items: item } },
  required: ['rows'],
  additionalProperties: false,
});
const object = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const TEXT: JsonObject = { type: 'string' };
const TEXTS: JsonObject = { type: 'array', items: TEXT };
const NUMBER: JsonObject = { type: 'integer' };

const TaughtRows = z.object({ rows: z.array(z.object({ questions: z.array(z.string()), answer: z.string() })) });
const WordedRows = z.object({ rows: z.array(z.object({ number: z.number(), questions: z.array(z.string()) })) });
const AnsweredRows = z.object({ rows: z.array(z.object({ number: z.number(), answer: z.string() })) });

const TAUGHT = list(object({ questions: TEXTS, answer: TEXT }));
const WORDED = list(object({ number: NUMBER, questions: TEXTS }));
const ANSWERED = list(object({ number: NUMBER, answer: TEXT }));

export class Teacher {
  readonly #asked: Asked;
  readonly #context: Context;
  /** As it calls itself. */
  name: string;

  constructor(asked: Asked, context: Context) {
    this.#asked = asked;
    this.#context = context;
    this.name = asked.model;
  }

  get factsATurn(): number {
    return Math.max(1, Math.floor(wordingsATurn / this.#asked.wordings));
  }

  /** New questions about the topic. `before`: those that there are. */
  async teach(count: number, before: readonly string[]): Promise<Taught[]> {
    const { topic = '', wordings } = this.#asked;
    const said = await this.#ask(
      [
        `Write ${count} questions about the topic below, each in ${wordings} different wordings, with its answer.`,
        'Each question stands by itself, and each wording of it has the same answer. An answer is short, and the only one that is right.',
        `The topic:\n\n${topic}`,
        ...this.#instructions(),
        ...(before.length === 0 ? [] : [`These are there already; ask something else:\n\n${listed(before)}`]),
      ],
      TAUGHT,
      '{"rows": [{"questions": ["one wording", "another"], "answer": "…"}]}',
    );
    return TaughtRows.safeParse(said).data?.rows ?? [];
  }

  /** Other wordings of each question, in the order of the facts. */
  async word(facts: readonly Fact[]): Promise<string[][]> {
    const said = await this.#ask(
      [
        `Ask each of the questions below in ${this.#asked.wordings} other ways. The answer of each has to stay the same, and is not to stand in the question.`,
        facts.map(({ question, answer }, at) => `${at + 1}. ${question}\n   Answer: ${answer}`).join('\n'),
        ...this.#instructions(),
      ],
      WORDED,
      '{"rows": [{"number": 1, "questions": ["one wording", "another"]}]}',
    );
    const rows = WordedRows.safeParse(said).data?.rows ?? [];
    return facts.map((_, at) => rows.filter(({ number }) => number === at + 1).flatMap(({ questions }) => questions));
  }

  /** What it answers to the questions, by these facts; it is not told which fact each is about. */
  async answer(questions: readonly string[], facts: readonly Fact[]): Promise<(string | undefined)[]> {
    const order = [...questions.keys()].toSorted((a, b) =>
      normal(questions[a] ?? '') < normal(questions[b] ?? '') ? -1 : 1,
    );
    const said = await this.#ask(
      [
        'These are facts:',
        facts.map(({ question, answer }) => `- ${question} ${answer}`).join('\n'),
        'Answer each of the questions below by them. Give the answer alone, as it stands there. Where none of the facts answers a question, give "unknown".',
        order.map((at, place) => `${place + 1}. ${questions[at] ?? ''}`).join('\n'),
      ],
      ANSWERED,
      '{"rows": [{"number": 1, "answer": "…"}]}',
    );
    const rows = AnsweredRows.safeParse(said).data?.rows ?? [];
    return questions.map((_, at) => rows.find(({ number }) => number === order.indexOf(at) + 1)?.answer);
  }

  #instructions(): string[] {
    const { instructions } = this.#asked;
    return instructions === undefined ? [] : [instructions];
  }

  async #ask(paragraphs: readonly string[], schema: JsonObject, form: string): Promise<Json> {
    const { model, temperature } = this.#asked;
    const prompt = [...paragraphs, `Answer with JSON and nothing else: ${form}`].join('\n\n');
    try {
      const said = (await this.#context.call('ai/generate', {
        prompt,
        schema,
        model,
        ...defined({ temperature }),
      })) as { data: Json; model: string };
      this.name = said.model;
      return said.data;
    } catch (error) {
      if (error instanceof Failure && FRUITLESS.has(error.code)) return null;
      throw error;
    }
  }
}

const listed = (questions: readonly string[]): string =>
  questions
    .slice(-namedAgain)
    .map((question) => `- ${question}`)
    .join('\n');
