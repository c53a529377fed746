/** One case of a test file, run by the scripted host: no server, nothing outside this process. */
import { readFileSync } from 'node:fs';
import { isAbsolute, join, dirname } from 'node:path';
import { refFiles } from '../../world/definitions/ref-files.ts';
import { depthFault, type Json } from '../../language/json.ts';
import { inputFault } from '../../language/inputs/refused-inputs.ts';
import { Definition } from '../../language/model.ts';
import { exactJson, withoutMark } from '../../language/numbers/exact-json.ts';
import { hasErrors, type Problem } from '../../language/problems.ts';
import type { NearRef, RefusedRefs } from '../../language/read/checks/nesting.ts';
import { spelledNearly } from '../../language/read/remedies/meant-word.ts';
import { parseDefinition, type ReadOptions } from '../../language/read/definition.ts';
import type { Catalogue } from '../../language/catalogue.ts';
import { filterVerdict } from '../../language/events/trigger-filter.ts';
import { defined } from '../../language/defined.ts';
import { runScenario, STARTS_AT, type Outcome, type Scenario } from '../../interpreter/simulation/run-scenario.ts';
import { Script } from '../../interpreter/simulation/script.ts';
import { libraryOf } from '../../runs/library.ts';
import {
  commandsOf,
  inProject,
  readDefinitionFile,
  type Known,
  type Named,
} from '../../world/definitions/definition-files.ts';
import { stage } from '../simulate/stage.ts';
import { compareProblems, compareRun, type Difference } from './compare.ts';
import { mistakesOf, type TestCase } from './test-file.ts';

export interface CaseReport {
  name: string;
  ok: boolean;
  differences: Difference[];
  /** What kept the case from running. */
  problems: Problem[];
  /** Patterns of replies that nothing asked for. */
  unused: string[];
  durationMs: number;
  /** Null where it did not run. */
  outcome: Outcome | null;
  /** What of the case cannot be read, in a sentence. */
  mistake?: string;
  /** How the simulated run itself broke down, where it did. */
  stuck?: string;
}

export interface Subject {
  definition: Definition | null;
  problems: Problem[];
  known: Known;
  catalogue: Catalogue;
  /** The file the definition is in, when it is in one. */
  file: string | null;
  /** Why there is no definition, where its problems do not say it. */
  mistake?: string;
}

export async function runTestCase(test: TestCase, subject: Subject): Promise<CaseReport> {
  const began = performance.now();
  const { definition, problems } = subject;
  const differences = compareProblems(test.expect.problems ?? [], problems);
  const nothing = { name: test.name, problems, unused: [], outcome: null };
  if (subject.mistake !== undefined)
    return { ...nothing, ok: false, differences: [], durationMs: performance.now() - began, mistake: subject.mistake };
  if (definition === null) {
    const ok = test.expect.problems !== undefined && differences.length === 0;
    return {
      ...nothing,
      ok,
      differences: test.expect.problems === undefined ? [] : differences,
      durationMs: performance.now() - began,
    };
  }
  const answers = new Script(test.script);
  const scenario = scenarioOf(test, definition, subject);
  const refused = refusedInputs(test, definition, scenario) ?? refusedCause(test, definition);
  if (refused !== null)
    return { ...nothing, ok: false, differences: [], durationMs: performance.now() - began, mistake: refused };
  try {
    const { project, persona } = test;
    const outcome = await runScenario(scenario, {
      stage,
      answers,
      stored: subject.known,
      ...defined({ project, persona }),
    });
    differences.push(...compareRun(test.expect, outcome));
    return {
      ...nothing,
      ok: differences.length === 0,
      differences,
      unused: answers.unused(),
      durationMs: performance.now() - began,
      outcome,
    };
  } catch (error) {
    const stuck = error instanceof Error ? error.message : String(error);
    return { ...nothing, ok: false, differences, durationMs: performance.now() - began, stuck };
  }
}

/** A run would not start with inputs that are refused; what is not checked takes any. */
function refusedInputs(
  { inputs, unchecked }: TestCase,
  definition: Definition,
  { library = {} }: Scenario,
): string | null {
  return unchecked ? null : (inputFault(definition, inputs, Object.values(library))?.message ?? null);
}

/** No run would start with an event that the definition's own trigger leaves out. */
function refusedCause({ script: { cause }, unchecked }: TestCase, { trigger }: Definition): string | null {
  if (unchecked || cause === undefined || trigger?.type !== 'event' || trigger.filter === undefined) return null;
  const { name, data = null } = cause;
  const verdict = filterVerdict(trigger.filter, { id: 'cause', name, data, at: STARTS_AT });
  if ('fault' in verdict) return `the trigger's filter fails for the "cause": ${verdict.fault}`;
  return verdict.holds ? null : `the trigger's filter ${trigger.filter} does not hold for the "cause": no run starts`;
}

/** A case as the scripted host takes it. */
export function scenarioOf(
  test: TestCase,
  definition: Definition,
  { known, catalogue }: Pick<Subject, 'known' | 'catalogue'>,
): Scenario {
  return {
    ...test.script,
    definition,
    library: libraryOf(definition, known, Object.keys(test.library)),
    catalogue,
    inputs: test.inputs,
    env: test.env,
  };
}

/** What a case is about: a definition in the case, in the file it names, or in the file the test is named after. */
export function subjectOf(test: TestCase, testFile: string, around: Named): Subject {
  const { catalogue } = around;
  if (test.unchecked) return uncheckedSubject(test, testFile, catalogue);
  const { definition, library } = test;
  const known: Known = (name) =>
    Object.hasOwn(library, name)
      ? (readLibrary(library[name] ?? {}, library, around).definition ?? undefined)
      : around.known(name);
  const refused: RefusedRefs = (name) => {
    if (!Object.hasOwn(library, name)) return around.refused(name);
    const { problems } = readLibrary(library[name] ?? {}, library, around);
    return hasErrors(problems) ? { where: `library.${name}`, problems } : undefined;
  };
  const near: NearRef = (name) => spelledNearly(name, Object.keys(library)) ?? around.near(name);
  if (typeof definition === 'object')
    return {
      ...readValue(definition, {
        ...commandsOf(around),
        knownRefs: known,
        refusedRefs: refused,
        nearRef: near,
        files: refFiles(testFile, around.root),
      }),
      known,
      catalogue,
      file: null,
    };
  const file = fileNamed(definition, testFile);
  const { definition: found, problems } = readDefinitionFile(file, { ...inProject(around), known, refused, near });
  return { definition: found, problems, known, catalogue, file };
}

function fileNamed(named: string | undefined, testFile: string): string {
  if (named === undefined) return testFile.replace(/\.sentinel-test\.json$/, '.json');
  return isAbsolute(named) ? named : join(dirname(testFile), named);
}

/** As it stands: no reader makes it canonical. */
function uncheckedSubject({ definition, library }: TestCase, testFile: string, catalogue: Catalogue): Subject {
  const file = typeof definition === 'object' ? null : fileNamed(definition, testFile);
  const refused = (mistake: string): Subject => ({
    definition: null,
    problems: [],
    known: () => undefined,
    catalogue,
    file,
    mistake,
  });
  let value: unknown = definition;
  try {
    if (file !== null) value = exactJson(withoutMark(readFileSync(file, 'utf8')));
  } catch (error) {
    return refused(`${file} cannot be read as JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  const beyond = depthFault(value, file ?? 'the definition');
  if (beyond !== null) return refused(beyond.message);
  const read = Definition.safeParse(value);
  const findings = [
    ...findingsIn('the definition', value),
    ...Object.entries(library).flatMap(([name, other]) => findingsIn(`library.${name}`, other)),
  ];
  if (!read.success || findings.length > 0)
    return refused(
      `nothing checks the case ("unchecked"), and ${findings.join('; ')}; write it as "sentinel normalize" prints it, or leave "unchecked" out`,
    );
  return {
    definition: read.data,
    problems: [],
    known: (name) => (Object.hasOwn(library, name) ? Definition.parse(library[name]) : undefined),
    catalogue,
    file,
  };
}

function findingsIn(what: string, value: unknown): string[] {
  const { error } = Definition.safeParse(value);
  return error === undefined ? [] : [`${what} is not canonical (${mistakesOf(error).join('; ')})`];
}

function readValue(value: Json, options: ReadOptions): Pick<Subject, 'definition' | 'problems'> {
  const read = parseDefinition(value, options);
  return { definition: read.ok ? read.definition : null, problems: read.problems };
}

/** What refers to it bounds its loops, or is told that nothing does. */
function readLibrary(
  value: Json,
  library: TestCase['library'],
  around: Named,
): Pick<Subject, 'definition' | 'problems'> {
  const anything: Known = (name) =>
    Object.hasOwn(library, name) ? { name, steps: [], loop: { type: 'once' } } : around.known(name);
  return readValue(value, { ...commandsOf(around), knownRefs: anything, isBounded: true });
}
