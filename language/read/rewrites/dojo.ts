/**
 * The dojo shorthand: `{challenges, measure, trainOnFailures, loopUntil}` becomes a loop that lets a model
 * answer every challenge, grades the answers, trains on those that failed, and does so until the
 * condition holds, ten times at most unless the author says otherwise.
 *
 * A bare word in `loopUntil` (`accuracy > 0.9`) is the share of challenges that passed; a word that speaks
 * of failures or errors is their number.
 */
import { parseExpression, referencesOf } from '../../expression/parse.ts';
import { isObject, isPlain, join, pathOf, type Draft, type Origins, type Plain } from '../draft/draft.ts';
import { defined } from '../../defined.ts';
import { passingScore } from '../../limits.ts';

const passesMax = 10;
const GRADE = {
  type: 'object',
  properties: { score: { type: 'number' }, explanation: { type: 'string' } },
  required: ['score'],
};

const OWN_KEYS = ['challenges', 'measure', 'trainOnFailures', 'loopUntil', 'model', 'baseModel', 'domain'];

/** Returns whether it was one. */
export function rewriteDojo(draft: Draft): boolean {
  const { value } = draft;
  if (!Object.hasOwn(value, 'challenges') || Object.hasOwn(value, 'steps')) return false;
  const over = challengesOf(draft);
  const shorthand = { ...value };
  for (const key of OWN_KEYS) delete value[key];
  for (const key of ['measure', 'trainOnFailures']) keepPlace(shorthand[key], pathOf(draft, key), draft.origins);
  put(draft, 'steps', 'challenges', [
    attempts(shorthand, over),
    ...measures(shorthand['measure']),
    ...training(shorthand),
  ]);
  const check = shorthand['loopUntil'];
  if (check !== undefined && !Object.hasOwn(value, 'loop'))
    put(draft, 'loop', 'loopUntil', {
      type: 'until',
      check: conditionOf(check, shorthand['measure'], over),
      ...bound(draft),
    });
  return true;
}

/** The array to walk: the author's own variable, or the list as an input of the run. */
function challengesOf(draft: Draft): string {
  const { challenges, inputs } = draft.value;
  if (typeof challenges === 'string' && challenges.trim() !== '') return challenges.trim();
  if (!Array.isArray(challenges) || challenges.length === 0) {
    const path = pathOf(draft, 'challenges');
    draft.problems.push({
      code: 'WRONG_TYPE',
      severity: 'error',
      path,
      message:
        '"challenges" is not a list with at least one challenge; give the list, or a reference to it such as "$plan.challenges"',
    });
  }
  draft.value['inputs'] = { ...(isPlain(inputs) ? inputs : {}), challenges };
  draft.moved.set('inputs', draft.moved.get('inputs') ?? pathOf(draft, 'challenges'));
  return '$challenges';
}

function attempts({ model, domain, trainOnFailures }: Plain, over: string): Plain {
  const asked = typeof model === 'string' ? { model } : {};
  const keep = {
    type: 'command',
    command: 'data/create',
    params: {
      collection: 'training_examples',
      data: {
        input: '$currentChallenge.input',
        expectedOutput: '$currentChallenge.expectedOutput',
        myAnswer: '$myAnswer',
        correction: '$grade.explanation',
        ...defined({ domain }),
      },
    },
  };
  const steps: Plain[] = [
    {
      type: 'llm',
      name: 'answer',
      ...asked,
      prompt: 'Solve this challenge and reply with the answer alone.\n\n$currentChallenge',
      outputTo: 'myAnswer',
    },
    {
      type: 'llm',
      name: 'grade',
      prompt:
        'Grade the answer from 0 to 100 by what was expected, and explain what is missing.\n\nChallenge: $currentChallenge\n\nAnswer: $myAnswer',
      schema: GRADE,
      outputTo: 'grade',
    },
  ];
  if (isWanted(trainOnFailures))
    steps.push({ type: 'condition', check: `$grade.score < ${passingScore}`, then: [keep] });
  const loop = { type: 'count', max: `${over}.length`, over, as: 'currentChallenge' };
  return {
    type: 'sentinel',
    name: 'challenges',
    definition: { name: 'run-challenges', steps, loop },
    outputTo: 'challengeResults',
  };
}

function isWanted(trainOnFailures: unknown): boolean {
  return trainOnFailures !== undefined && trainOnFailures !== false;
}

/** Steps of the author's own that measure; anything else names what is measured. */
function measures(measure: unknown): unknown[] {
  if (Array.isArray(measure)) return measure.filter(isPlain);
  return isPlain(measure) ? [measure] : [];
}

function training({ trainOnFailures, baseModel = 'llama3.1:8b', domain }: Plain): unknown[] {
  if (!isWanted(trainOnFailures)) return [];
  const own = Array.isArray(trainOnFailures)
    ? trainOnFailures
    : isPlain(trainOnFailures)
      ? [trainOnFailures]
      : undefined;
  const then = own ?? [
    {
      type: 'command',
      command: 'ai/dataset/create',
      params: { source: 'training_examples', outputPath: '/tmp/training' },
      outputTo: 'dataset',
    },
    {
      type: 'emit',
      event: 'genome:training:requested',
      data: {
        dataset: '$dataset.path',
        examples: '$challengeResults.failureCount',
        baseModel,
        ...defined({ domain }),
      },
    },
  ];
  return [{ type: 'condition', name: 'train on failures', check: '$challengeResults.failureCount > 0', then }];
}

function bound({ value }: Draft): Plain {
  const isBound =
    Object.hasOwn(value, 'timeoutMs') || Object.hasOwn(value, 'maxIterations') || isPlain(value['safety']);
  return isBound ? {} : { maxIterations: passesMax };
}

/** Each bare word becomes the parameter of a function over the number it stands for. */
function conditionOf(check: unknown, measure: unknown, over: string): unknown {
  if (typeof check !== 'string' || measures(measure).length > 0) return check;
  const parsed = parseExpression(check);
  if (!parsed.ok) return check;
  const known = new Set(['challengeResults', 'challenges', 'dataset', 'iteration', 'input']);
  const words = [...new Set(referencesOf(parsed.expression).map(({ name }) => name))].filter(
    (name) => !known.has(name) && !over.startsWith(`$${name}`),
  );
  return words.reduce((body, word) => {
    const bare = body.replaceAll(`$${word}`, word);
    return `[${/fail|error/i.test(word) ? '$challengeResults.failureCount' : `1 - $challengeResults.failureCount / ${over}.length`}].some(${word} => ${bare})`;
  }, check);
}

/** Steps of the author's own stay where they were written, whatever of ours they are put into. */
function keepPlace(own: unknown, path: string, origins: Origins): void {
  if (!isObject(own)) return;
  origins.copy(own, own, path);
  if (Array.isArray(own)) own.forEach((step: unknown, index) => keepPlace(step, join(path, index), origins));
}

/** What we write in the author's place is found where the author wrote the shorthand. */
function put(draft: Draft, key: string, from: string, value: object): void {
  const path = pathOf(draft, from);
  place(value, path, draft.origins);
  draft.value[key] = value;
  draft.moved.set(key, path);
}

function place(value: unknown, path: string, origins: Origins): void {
  if (!isObject(value) || origins.has(value)) return;
  origins.set(value, path, new Map(Object.keys(value).map((key) => [key, path])));
  for (const item of Object.values(value)) place(item, path, origins);
}
