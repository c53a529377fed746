/**
 * Runs what an evaluation asks for. Each case is a durable run whose handle follows from the evaluation and the
 * case, so one that was interrupted goes on: runs that are there already are waited for, and none starts twice.
 */
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import { defined } from '../../language/defined.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import type { StoredEvaluation } from '../../prisma/store/evaluations/evaluation-contract.ts';
import { ClientError, type StartOptions } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import type { Known } from '../../world/definitions/definition-files.ts';
import { checkRun } from './checks.ts';
import type { Evaluation, EvaluationInput } from './evaluation-file.ts';
import { compare, summarize, type CaseResult, type Comparison, type EvaluationResult } from './summary.ts';
import { knownWithModel, withModel } from './with-model.ts';

export interface EvaluationRequest {
  /** The path of the file: evaluations of it are compared. */
  file: string;
  evaluation: Evaluation;
  definition: Definition;
  known: Known;
  start: Pick<StartOptions, 'project' | 'persona' | 'host' | 'policy'>;
  /** The text of a cassette. */
  cassette?: string;
  /** Begins anew, even where one of the same content was interrupted. */
  isFresh: boolean;
  /** Told how it goes. */
  onBegin?: (about: { id: string; runs: number; isResumed: boolean }) => void;
  onCase?: (result: CaseResult, done: number, runs: number) => void;
}

export interface EvaluationOutcome extends EvaluationResult {
  id: string;
  file: string;
  isResumed: boolean;
  /** With the last evaluation of the file that ended; null where there is none. */
  compared: Comparison | null;
}

/** So many are looked at for one that ended. */
const LOOKED_AT = 50;

interface Planned {
  input: EvaluationInput;
  model: string | null;
  repeat: number;
  handle: string;
}

export async function runEvaluation(client: OpenClient, request: EvaluationRequest): Promise<EvaluationOutcome> {
  const { file, evaluation, onBegin } = request;
  const { evaluations } = await client.store();
  const before = await evaluations.list(file, LOOKED_AT);
  const content = contentOf(request);
  const [newest] = before;
  const isResumed = !request.isFresh && newest?.finishedAt === null && newest.content === content;
  const { id } = isResumed ? newest : await evaluations.begin(file, content);
  const planned = plan(evaluation, id);
  onBegin?.({ id, runs: planned.length, isResumed });
  const cases = await all(client, request, planned);
  const result = summarize(cases);
  await evaluations.finish(id, result as unknown as JsonObject);
  const last = before.find((one) => one.finishedAt !== null);
  return { ...result, id, file, isResumed, compared: last === undefined ? null : comparedWith(last, cases) };
}

/** What decides which runs there are; what is checked of them may change meanwhile. */
function contentOf({ evaluation, definition, cassette, start }: EvaluationRequest): string {
  const inputs = evaluation.inputs.map(({ name, input }) => ({ name, input }));
  const { models, repeat } = evaluation;
  const { project, policy } = start;
  return contentHash({
    definition,
    inputs,
    models,
    repeat,
    cassette: cassette ?? null,
    project,
    ...defined({ policy }),
  });
}

function comparedWith({ id, finishedAt, result }: StoredEvaluation, cases: readonly CaseResult[]): Comparison {
  const before = isJsonObject(result) && Array.isArray(result['cases']) ? result['cases'] : [];
  return compare(cases, { id, finishedAt: finishedAt ?? 0, cases: before as unknown as CaseResult[] });
}

function plan({ inputs, models, repeat }: Evaluation, id: string): Planned[] {
  return models.flatMap((model, at) =>
    inputs.flatMap((input, index) =>
      Array.from({ length: repeat }, (_, time): Planned => ({
        input,
        model,
        repeat: time + 1,
        handle: `eval-${id}-m${at + 1}-i${index + 1}-r${time + 1}`,
      })),
    ),
  );
}

/** In the order of the plan, so many at a time. */
async function all(client: OpenClient, request: EvaluationRequest, planned: readonly Planned[]): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  let [next, done] = [0, 0];
  const work = async (): Promise<void> => {
    for (let index = next++; index < planned.length; index = next++) {
      const one = planned[index];
      if (one === undefined) return;
      const result = await runCase(client, request, one);
      results[index] = result;
      done += 1;
      request.onCase?.(result, done, planned.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(request.evaluation.concurrency, planned.length) }, work));
  return results;
}

/** Under a name of its own: the store keeps the newest definition of each name. */
const variantOf = (definition: Definition, model: string): Definition => ({
  ...withModel(definition, model),
  name: `${definition.name} [${model}]`,
});

async function runCase(
  client: OpenClient,
  { definition, known, start, cassette }: EvaluationRequest,
  { input, model, repeat, handle }: Planned,
): Promise<CaseResult> {
  const asked = model === null ? definition : variantOf(definition, model);
  try {
    await client.start(asked, {
      ...start,
      inputs: input.input,
      handle,
      known: model === null ? known : knownWithModel(known, model),
      ...defined({ cassette }),
    });
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'HANDLE_TAKEN') throw error;
    // A case that was begun goes on; a run of something else is none.
    const found = await client.find(handle);
    if (found.definitionHash !== contentHash(asked) || found.project !== start.project) throw error;
  }
  const isWaiting = await untilEndOrQuestion(client, handle);
  const report = await (isWaiting ? client.status(handle) : client.result(handle));
  const { total } = await client.costs({ handle, by: 'run' });
  const { outcome, outputs, iterations, durationMs } = report;
  const tokens = total.input + total.output + total.cacheRead + total.cacheWrite;
  const failure: JsonObject | null = isWaiting
    ? { code: 'WAITS', message: 'it waits for an answer, which nobody gives in an evaluation' }
    : report.failure === undefined
      ? null
      : { code: report.failure.code, message: report.failure.message };
  const checks = checkRun(input, { outcome, outputs, iterations, durationMs, failure, tokens, usd: total.usd });
  return {
    model,
    name: input.name,
    repeat,
    handle,
    outcome,
    passed: checks.every(({ passed }) => passed),
    checks,
    tokens,
    usd: total.usd,
    unpricedTokens: total.unpricedTokens,
    durationMs,
  };
}

/** Whether it waits for somebody, here or in a run nested in it; then it is cancelled, since nobody will come. */
async function untilEndOrQuestion(client: OpenClient, handle: string): Promise<boolean> {
  for await (const { event } of client.follow(handle)) {
    // What was asked in the history of a run that went on since is no reason to end it.
    if (event.type !== 'asked' || (await client.inbox({ handle })).length === 0) continue;
    await client.requestCancel(handle).catch((error: unknown) => {
      if (!(error instanceof ClientError) || error.code !== 'RUN_ENDED') throw error;
    });
    return true;
  }
  return false;
}
