/** A definition, walked by the real interpreter while nothing happens: what each step would touch, whether it may, and what would come of it. */
import type { JsonObject } from '../../language/json.ts';
import type { Definition, Step } from '../../language/model.ts';
import { permissionOf, permissionOfCommand } from '../../language/permissions.ts';
import type { Policy } from '../../language/policy/policy.ts';
import type { Catalogue, Permission } from '../../language/catalogue.ts';
import { NestedRuns } from '../../language/events/nested-runs.ts';
import type { RunEvent, RunOutcome, StepFinished } from '../../language/events/run-event.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { defined } from '../../language/defined.ts';
import { stepsAt } from '../../interpreter/program.ts';
import { asksIn, refusalIn, type Verdict as JudgedVerdict } from '../../interpreter/verdict.ts';
import { runScenario, type Outcome } from '../../interpreter/simulation/run-scenario.ts';
import type { ScriptSource } from '../../interpreter/simulation/script.ts';
import type { ScriptedRun } from '../../interpreter/simulation/world.ts';
import { libraryOf } from '../../runs/library.ts';
import type { Known } from '../../world/definitions/definition-files.ts';
import { orderEvents } from '../../client/show/trace.ts';
import { Overlay, type FileChange } from './overlay.ts';
import { Predictions, type Predicting, type Prediction } from './predict.ts';
import { stage } from './stage.ts';

export type Verdict = 'allowed' | 'needs approval' | 'denied';

export interface SimulatedVerdict {
  stage: JudgedVerdict['stage'];
  rule: string;
  verdict: JudgedVerdict['verdict'];
  why?: string;
}

export interface SimulatedStep {
  /** Behind the keys of the nested runs that lead to it. */
  key: string;
  step: Step['type'];
  label: string;
  permission: Permission | null;
  verdict: Verdict;
  /** What the verdict rests on, where it is not simply allowed, and by which rule. */
  why?: string;
  rule?: string;
  /** What was said of the action, in order: refusals, questions, and rules of policies. */
  verdicts?: SimulatedVerdict[];
  sandboxed?: true;
  /** What would happen, and where that is known from. */
  effect?: string;
  source?: Prediction['source'];
  outcome: StepFinished['outcome'];
  failure?: FailureInfo;
  /** The branch a condition takes. */
  branch?: string;
}

export interface SimulationReport {
  ok: boolean;
  name: string;
  project: string;
  outcome: RunOutcome;
  limit?: string;
  failure?: FailureInfo;
  iterations: number;
  steps: SimulatedStep[];
  files: FileChange[];
  warnings: { key: string; code: string; message: string }[];
  /** Replies that nothing asked for. */
  unused: string[];
  trace: string[];
  outputs: JsonObject;
}

export interface SimulationRequest {
  definition: Definition;
  known: Known;
  /** The commands there are. */
  catalogue: Catalogue;
  inputs: JsonObject;
  replies: NonNullable<ScriptSource['replies']>;
  project: string;
  persona: string;
  /** Rules about its actions: the project's, and those that are given. */
  policies?: Policy[];
  /** Commands of the project's own. */
  own?: readonly Predicting[];
}

/** Effects after which a simulation is ended: what goes round for longer shows nothing new. */
export const SIMULATED_EFFECTS_MAX = 1000;

/** Failures that say a path or a mode was refused. */
const REFUSALS: ReadonlySet<string> = new Set(['PATH_OUTSIDE_PROJECT', 'MODE_FORBIDS']);

export async function simulate({
  definition,
  known,
  catalogue,
  inputs,
  replies,
  project,
  persona,
  own = [],
  policies = [],
}: SimulationRequest): Promise<SimulationReport> {
  const overlay = new Overlay(project);
  // With their code: a verb that simulates nothing does without it.
  const { builtInCommands } = await import('../../systems/built-in.ts');
  const answers = new Predictions({ replies }, overlay, SIMULATED_EFFECTS_MAX, [...builtInCommands, ...own]);
  const scenario = {
    definition,
    library: libraryOf(definition, known),
    catalogue,
    inputs,
    ...(policies.length === 0 ? {} : { policies }),
  };
  const waits: SimulationReport['warnings'] = [];
  const whenStuck = (runs: readonly ScriptedRun[]): void => {
    waits.push(...waitsOf(runs));
    runs[0]?.stop();
  };
  const outcome = await runScenario(scenario, { stage, answers, project, persona, stored: known, whenStuck });
  const steps = stepsOf(outcome, answers);
  const { result } = outcome;
  const warnings = [...warningsOf(outcome), ...waits];
  if (answers.isCut)
    warnings.push({ key: '', code: 'CUT', message: `the simulation was ended after ${SIMULATED_EFFECTS_MAX} effects` });
  return {
    ok: steps.every(({ verdict }) => verdict !== 'denied'),
    name: definition.name,
    project,
    outcome: result.outcome,
    ...defined({ limit: result.limit, failure: result.failure }),
    iterations: result.iterations,
    steps,
    files: overlay.changes(),
    warnings,
    unused: answers.unused(),
    trace: outcome.trace,
    outputs: result.outputs,
  };
}

/** The steps of all runs, each nested run after the step that started it. */
function stepsOf({ runs }: Outcome, { made }: Predictions): SimulatedStep[] {
  const [outermost] = runs;
  const byHandle = new Map(runs.toReversed().map((run) => [run.walk.input.handle, run]));
  const nested = new NestedRuns(byHandle.keys());
  const walked = (run: ScriptedRun): SimulatedStep[] => {
    const started = nested.startedIn(run.events, run.walk.input.handle);
    return orderEvents(run.events).flatMap((event): SimulatedStep[] => {
      if (event.type === 'step-started' && event.step === 'sentinel') {
        return (started.get(event.seq) ?? []).flatMap((handle) => byHandle.get(handle) ?? []).flatMap(walked);
      }
      return event.type === 'step-finished' && event.step !== 'loop' && event.step !== 'parallel'
        ? [stepOf(event, run, made)]
        : [];
    });
  };
  return outermost === undefined ? [] : walked(outermost);
}

function stepOf(event: StepFinished, run: ScriptedRun, made: ReadonlyMap<string, Prediction>): SimulatedStep {
  const key = run.keyOf(event.key);
  // Of a model step the first turn says what is asked.
  const prediction = made.get(key) ?? made.get(`${key}/turn.1`);
  const judged = run.judgedLast.get(event.key) ?? run.judgedLast.get(`${event.key}/turn.1`) ?? [];
  const step = stepAt(run.walk.input.definition, event.key);
  const { catalogue, limits } = run.walk.input;
  const permission = permissionIn(catalogue, step, prediction);
  const { mode } = limits;
  return {
    key,
    step: event.step,
    label: event.label,
    permission,
    ...verdictOn(event, judged),
    ...verdictsShown(judged),
    ...(mode === 'sandboxed' && (permission === 'shell' || permission === 'write') ? { sandboxed: true as const } : {}),
    ...(prediction === undefined ? {} : { effect: prediction.text, source: prediction.source }),
    outcome: event.outcome,
    ...defined({ failure: event.failure }),
    ...(event.step === 'condition' && event.preview !== undefined ? { branch: event.preview } : {}),
  };
}

function verdictsShown(judged: readonly JudgedVerdict[]): { verdicts?: SimulatedVerdict[] } {
  const shown = judged.filter(({ verdict, isRule }) => verdict !== 'allow' || isRule === true);
  return shown.length === 0 ? {} : { verdicts: shown.map(plainVerdict) };
}

const plainVerdict = (judged: JudgedVerdict): SimulatedVerdict => ({
  stage: judged.stage,
  rule: judged.rule,
  verdict: judged.verdict,
  ...('why' in judged ? { why: judged.why } : {}),
});

function stepAt(definition: Definition, key: string): Step | undefined {
  const [path = ''] = key.split('@');
  const at = path.lastIndexOf('.');
  return stepsAt(definition, path.slice(0, at))[Number(path.slice(at + 1))];
}

/** Of the command as it was asked for, with its values known, where it came to that. */
function permissionIn(
  catalogue: Catalogue,
  step: Step | undefined,
  prediction: Prediction | undefined,
): Permission | null {
  const effect = prediction?.effect;
  if (effect?.type === 'command') return permissionOfCommand(catalogue, effect.command, effect.params);
  return step === undefined ? null : permissionOf(catalogue, step);
}

/** What the list of judges said last; a path is refused where the action would be performed. */
function verdictOn(
  { failure, step: type }: StepFinished,
  judged: readonly JudgedVerdict[],
): Pick<SimulatedStep, 'verdict' | 'why' | 'rule'> {
  const refusal = refusalIn(judged);
  if (refusal !== null && refusal.limit === undefined)
    return { verdict: 'denied', why: refusal.why, rule: refusal.rule };
  if (failure !== undefined && REFUSALS.has(failure.code)) return { verdict: 'denied', why: failure.message };
  if (type === 'approval') return { verdict: 'needs approval', why: 'the step asks for one' };
  const [ask] = asksIn(judged);
  if (ask !== undefined) return { verdict: 'needs approval', why: ask.why, rule: ask.rule };
  // Of a policy, what allows something in particular.
  const rule = judged.find((one) => one.stage === 'policy' && one.isRule === true)?.rule;
  return { verdict: 'allowed', ...defined({ rule }) };
}

/** Nobody publishes anything while it is simulated but the run itself. */
function waitsOf(runs: readonly ScriptedRun[]): SimulationReport['warnings'] {
  return runs.flatMap((run) =>
    Array.from(run.awaited, ([key, pattern]) => ({
      key: run.keyOf(key),
      code: 'WAITS',
      message: `a run would wait here for the event "${pattern}"; the simulation ends`,
    })),
  );
}

function warningsOf({ runs }: Outcome): SimulationReport['warnings'] {
  return runs.flatMap((run) =>
    run.events
      .filter((event): event is Extract<RunEvent, { type: 'warning' }> => event.type === 'warning')
      .map(({ key, code, message }) => ({ key: run.keyOf(key), code, message })),
  );
}
