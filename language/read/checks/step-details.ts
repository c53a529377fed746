/** What the schema cannot say of a step by itself: what it asks for, and keys that do nothing where they stand. */
import { type Catalogue, failuresIn } from '../../catalogue.ts';
import { FAILURE_CODES, isPermanent } from '../../failure.ts';
import { titleOf } from '../../stated-failures.ts';
import { FAULT_CODES } from '../../expression/scope.ts';
import type { FailStep, LlmStep, ParallelStep, SetStep, SleepStep, WatchStep } from '../../model.ts';
import { missingDay, momentIn } from '../../references/times.ts';
import { isTemplate } from '../../references/written-references.ts';
import { parseModelString } from '../../models/model-string.ts';
import { awayFrom, spelledNearly } from '../remedies/meant-word.ts';
import { noSuchType, SCHEMA_TYPES } from '../../params/schema-faults.ts';
import type { Problem } from '../../problems.ts';
import { isPlain, join, lastKey, type Origins } from '../draft/draft.ts';
import type { Sites, StepSite } from '../inventory/sites.ts';
import { badEnvName, unreachableLimit } from './settings.ts';

type At = (...path: string[]) => string;

export function checkStepDetails(sites: Sites, origins: Origins, catalogue: Catalogue): Problem[] {
  return sites.steps.flatMap((site) => {
    const at: At = (...path) => origins.locate(site.step, site.path, path);
    return [...checkByType(site, at, catalogue), ...checkTimeout(site, at), ...checkRetry(site, at)];
  });
}

function checkByType(site: StepSite, at: At, catalogue: Catalogue): Problem[] {
  const { step } = site;
  switch (step.type) {
    case 'llm':
      return checkLlm(step, site, at);
    case 'watch':
      return checkWatch(step, at);
    case 'approval':
      return [
        ...(step.form === undefined ? [] : badSchema(step.form, at('form'), 'object')),
        ...(step.onTimeout !== undefined && step.timeoutMs === undefined
          ? [withoutEffect('onTimeout', at, 'the step waits without a "timeoutMs"', 'add "timeoutMs"')]
          : []),
        ...unreachableLimit({
          path: at('remindAfterMs'),
          key: 'remindAfterMs',
          limit: step.remindAfterMs,
          before: 'the question expires',
          less: step.timeoutMs,
        }),
        ...(step.assignee !== undefined && step.approvers !== undefined
          ? [
              error(
                'CONFLICTING_KEYS',
                at('approvers'),
                '"assignee" and "approvers" both say who is asked; keep one of them',
              ),
            ]
          : []),
      ];
    case 'shell':
      return Object.keys(step.env ?? {}).flatMap((name) => badEnvName(name, join(at('env'), name)));
    case 'parallel':
      return checkParallel(step, at);
    case 'fail':
      return checkFail(step, at, catalogue);
    case 'sleep':
      return checkSleep(step, at);
    case 'set':
      return [
        ...timeless(step, at),
        ...(Object.keys(step.values).length === 0 ? [withoutEffect('values', at, 'it sets nothing')] : []),
      ];
    case 'join':
      return checkJoin(step.handles, at('handles'), at);
    case 'command':
    case 'emit':
    case 'condition':
    case 'loop':
    case 'sentinel':
      return [];
    default:
      return step satisfies never;
  }
}

const ownCodes = (catalogue: Catalogue): ReadonlyMap<string, string> =>
  new Map([
    ...FAULT_CODES.map((code): [string, string] => [code, 'An expression or a reference cannot be read']),
    ...Object.entries(FAILURE_CODES).map(([code, stated]): [string, string] => [code, titleOf(stated)]),
    ...Object.entries(failuresIn(catalogue)),
  ]);

/** A code as it may be: capital letters, digits and `_`. */
const CODE = /^[A-Z][A-Z0-9_]{0,99}$/;

function checkParallel(step: ParallelStep, at: At): Problem[] {
  const { over, branches = [], steps, failFast } = step;
  if (over === undefined) {
    const idle = (['as', 'itemErrors'] as const).filter((key) => step[key] !== undefined);
    return [
      ...(branches.length === 0
        ? [error('EMPTY_BRANCHES', at('branches'), 'there are no branches; add one, or remove the step')]
        : []),
      ...idle.map((key) =>
        withoutEffect(key, at, 'the step has branches and goes over no list', 'add "over" with a list'),
      ),
    ];
  }
  return [
    ...(steps === undefined
      ? [error('MISSING_KEY', at(), 'the step does not say what is done for each item; add "steps"')]
      : []),
    ...(failFast === undefined
      ? []
      : [
          withoutEffect(
            'failFast',
            at,
            'of a list, "itemErrors" says what a failure ends',
            'write "itemErrors": "fail" or "collect"',
          ),
        ]),
  ];
}

function checkSleep({ durationMs, until }: SleepStep, at: At): Problem[] {
  if (durationMs === undefined && until === undefined)
    return [
      error('MISSING_KEY', at(), 'the step does not say how long it waits; add "durationMs", or "until" with a time'),
    ];
  if (durationMs !== undefined && until !== undefined)
    return [
      error(
        'CONFLICTING_KEYS',
        at('until'),
        '"durationMs" and "until" both say how long the step waits; keep one of them',
      ),
    ];
  if (typeof durationMs === 'string' && !isTemplate(durationMs))
    return [
      error(
        'WRONG_VALUE',
        at('durationMs'),
        `${JSON.stringify(durationMs)} is no time; write milliseconds, or a time with its unit such as "30s"`,
      ),
    ];
  if (until === undefined || isTemplate(until) || momentIn(until) !== null) return [];
  return [
    error(
      'WRONG_VALUE',
      at('until'),
      missingDay(until) === null
        ? `${JSON.stringify(until)} is no time; write a date, or date and time with the zone, such as "2026-01-31T08:00:00Z"`
        : `${JSON.stringify(until)} is no time: there is no ${missingDay(until)}; write a day that there is`,
    ),
  ];
}

/** What stands there is no handle and can give none; what a reference gives is known when the step begins. */
function checkJoin(handles: unknown, path: string, at: At): Problem[] {
  if (Array.isArray(handles)) {
    if (handles.length === 0) return [withoutEffect('handles', at, 'it names no run to wait for')];
    return handles.flatMap((handle, index) =>
      Array.isArray(handle) && handle.length === 0 ? [] : checkJoin(handle, join(path, String(index)), at),
    );
  }
  const isNone =
    handles === null ||
    typeof handles === 'number' ||
    typeof handles === 'boolean' ||
    (typeof handles === 'string' && !isTemplate(handles) && (handles === '' || handles.includes('*')));
  if (!isNone) return [];
  const message = `${JSON.stringify(handles)} is no handle of a run; write the variable that a step with "await": false sets, such as "$started", or a handle`;
  return [error('WRONG_VALUE', path, message)];
}

function timeless({ timeoutMs }: FailStep | SetStep, at: At): Problem[] {
  return timeoutMs === undefined ? [] : [withoutEffect('timeoutMs', at, 'the step takes no time')];
}

function checkFail(step: FailStep, at: At, catalogue: Catalogue): Problem[] {
  const { code } = step;
  const idle = timeless(step, at);
  if (code === undefined) return idle;
  const own = ownCodes(catalogue);
  const meaning = own.get(code);
  if (meaning !== undefined)
    return [
      error(
        'RESERVED_NAME',
        at('code'),
        `"${code}" is a code of ${Object.hasOwn(failuresIn(catalogue), code) ? 'a command' : 'the engine'} ("${meaning}"); choose another`,
      ),
      ...idle,
    ];
  return [...badCode(code, at('code'), (word) => !own.has(word)), ...idle];
}

/** `mayBe`: whether a code that is meant can stand there. */
function badCode(code: string, path: string, mayBe: (word: string) => boolean): Problem[] {
  if (CODE.test(code)) return [];
  const word = code
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^[\d_]+|_+$/g, '');
  const fix = CODE.test(word) && mayBe(word) ? { fix: `write "${word}"` } : {};
  const message = `${JSON.stringify(code)} is no code: a code is at most 100 capital letters, digits and "_", and begins with a letter`;
  return [{ ...error('WRONG_VALUE', path, message), ...fix }];
}

/** Of a code of the engine that no repeat changes, a step says nothing else. */
function checkRetry({ step }: StepSite, at: At): Problem[] {
  return (step.retry?.on ?? []).flatMap((code, index) => {
    const path = at('retry', 'on', String(index));
    if (!isPermanent({ code })) return badCode(code, path, () => true);
    const message = `${JSON.stringify(code)} has no effect: a step that fails with it is never tried again`;
    return [{ code: 'KEY_WITHOUT_EFFECT', severity: 'warning', path, message, fix: 'remove it' } as const];
  });
}

function checkLlm(step: LlmStep, { place }: StepSite, at: At): Problem[] {
  const problems: Problem[] = [];
  const hasPrompt = step.prompt !== undefined && step.prompt.trim() !== '';
  if (!hasPrompt && step.system === undefined && place.definition.value['recipe'] === undefined) {
    problems.push({
      code: 'NO_PROMPT',
      severity: 'warning',
      path: at(),
      message:
        'the step asks a model nothing: it has no "prompt", and the definition no "recipe" to supply one; add "prompt"',
    });
  }
  const bad = step.model === undefined ? null : modelProblem(step.model);
  if (bad !== null) problems.push(error('BAD_MODEL', at('model'), `"${step.model}" cannot name a model: ${bad}`));
  else if (step.model !== undefined) problems.push(...nearProvider(step.model, at('model')));
  if (step.schema !== undefined) problems.push(...badSchema(step.schema, at('schema')));
  const hasTools = (step.tools ?? []).length > 0 || step.parseToolCalls === true;
  const ofTurns = hasTools ? [] : (['stopWhen', 'onStuck', 'unchangedTurns'] as const);
  for (const key of ofTurns.filter((one) => step[one] !== undefined))
    problems.push(withoutEffect(key, at, 'without "tools" the first answer ends the step'));
  return problems;
}

/** A reference may become any part of a model's name; what is around it has to fit. */
function modelProblem(model: string): string | null {
  const read = parseModelString(model.replaceAll(/\{\{[^{}\n]*\}\}|\$[A-Za-z_][\w.[\]]*/g, 'x'));
  return read.ok ? null : read.problem;
}

/** Those that are there without a configuration, which names others. */
const PROVIDERS = ['local', 'ollama', 'anthropic', 'openai'];
const lettersAway = 2;

/** A server's own ids have slashes, too: only a name that is nearly one of ours is taken for it. */
function nearProvider(model: string, path: Problem['path']): Problem[] {
  const read = parseModelString(model);
  if (!read.ok || read.model.type !== 'model' || read.model.provider === null) return [];
  const { provider } = read.model;
  // `openai-eu` is a name that people give.
  if (PROVIDERS.some((known) => provider.toLowerCase().includes(known))) return [];
  const meant = spelledNearly(provider, PROVIDERS);
  if (meant === undefined || awayFrom(provider.toLowerCase(), meant) > lettersAway) return [];
  const fix = `${meant}${model.slice(model.indexOf('/'))}`;
  const message = `there is no provider "${provider}", unless sentinel.config names one so; did you mean "${fix}"?`;
  return [{ code: 'BAD_MODEL', severity: 'warning', path, message, fix: `write "${fix}"` }];
}

function checkWatch(step: WatchStep, at: At): Problem[] {
  if (step.executionId === undefined && step.event === undefined) {
    return [
      error(
        'NOTHING_TO_WATCH',
        at(),
        'the step waits for nothing; add "executionId" (of a process that was started without waiting) or "event"',
      ),
    ];
  }
  const problems = unreachableRules(step, at);
  if (step.executionId !== undefined) return problems;
  const idle = (['rules', 'until'] as const).filter((key) => step[key] !== undefined);
  return [
    ...problems,
    ...idle.map((key) => withoutEffect(key, at, 'it is about the lines of a process, and the step waits for an event')),
  ];
}

/** The first rule that matches a line decides. */
function unreachableRules(step: WatchStep, at: At): Problem[] {
  const seen = new Set<string>();
  return (step.rules ?? []).flatMap((rule, index): Problem[] => {
    const isSeen = seen.has(rule.pattern);
    seen.add(rule.pattern);
    const message = 'an earlier rule has the same pattern, and the first that matches decides; this one is never used';
    return isSeen
      ? [
          {
            code: 'UNREACHABLE_RULE',
            severity: 'warning',
            path: at('rules', String(index)),
            message,
            fix: 'remove the rule',
          },
        ]
      : [];
  });
}

function checkTimeout({ step, place }: StepSite, at: At): Problem[] {
  const safety = place.definition.value['safety'];
  const most = isPlain(safety) ? safety['maxStepTimeoutMs'] : undefined;
  return unreachableLimit({
    path: at('timeoutMs'),
    key: 'timeoutMs',
    limit: step.timeoutMs,
    before: '"safety.maxStepTimeoutMs" ends the step',
    less: most,
  });
}

/** Far enough to tell a JSON Schema from something else; what it means is for the validator that uses it. */
export function badSchema(schema: unknown, path: string, wanted?: 'object'): Problem[] {
  const bad = (message: string): Problem[] => [error('BAD_SCHEMA', path, `this is not a JSON Schema: ${message}`)];
  if (typeof schema === 'boolean' && wanted === undefined) return [];
  if (!isPlain(schema)) return bad('an object is needed, such as {"type": "object", "properties": {…}}');
  const { type, properties, required } = schema;
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  const unknown = types.find((one) => !SCHEMA_TYPES.some((known) => known === one));
  if (unknown !== undefined) return bad(noSuchType(unknown));
  if (
    properties !== undefined &&
    !(isPlain(properties) && Object.values(properties).every((inner) => isPlain(inner) || typeof inner === 'boolean'))
  ) {
    return bad('"properties" holds a schema for each name');
  }
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === 'string')))
    return bad('"required" is a list of names');
  if (wanted === 'object' && types.length > 0 && !types.includes('object'))
    return bad('what is filled in is an object; write "type": "object" and "properties"');
  return [];
}

function withoutEffect(key: string, at: At, why: string, fix?: string): Problem {
  const own = lastKey(at(key), key);
  return {
    code: 'KEY_WITHOUT_EFFECT',
    severity: 'warning',
    path: at(key),
    message: `"${own}" has no effect: ${why}`,
    fix: fix ?? `remove "${own}"`,
  };
}

function error(code: Problem['code'], path: string, message: string): Problem {
  return { code, severity: 'error', path, message };
}
