/** What the schema cannot say of single steps: commands, names, patterns, emptiness, what is built. */
import { RE2JS } from 're2js';
import { findCommand, type Catalogue } from '../../catalogue.ts';
import { regexLengthMax } from '../../limits.ts';
import type { Rule } from '../../model.ts';
import type { Problem } from '../../problems.ts';
import { verificationOf } from '../../unknown-outcomes.ts';
import { isTemplate } from '../../references/written-references.ts';
import { BUILT_INS, isSafeName } from '../../expression/scope.ts';
import { nearestFix } from '../remedies/meant-word.ts';
import { isPlain, join, type Origins } from '../draft/draft.ts';
import type { Sites, StepSite } from '../inventory/sites.ts';
import { BRACE_ROOTS } from './references.ts';

export function checkSteps(sites: Sites, origins: Origins, catalogue: Catalogue): Problem[] {
  return [
    ...sites.lists.filter((list) => list.length === 0).map(emptySteps),
    ...sites.steps.flatMap((site) => [
      ...checkTools(site, catalogue, origins),
      ...checkCommand(site, catalogue, origins),
      ...checkVerification(site, catalogue, origins),
      ...checkCondition(site),
      ...checkRules(site),
      ...checkOutputNames(site, origins),
      ...checkInputNames(site, origins),
    ]),
    ...sites.loops.flatMap(({ loop, path }) => [
      ...('as' in loop && loop.as !== undefined ? checkName(loop.as, join(path, 'as')) : []),
    ]),
    ...checkDuplicates(sites, origins),
  ];
}

function emptySteps({ path }: { path: string }): Problem {
  return {
    code: 'EMPTY_STEPS',
    severity: 'error',
    path,
    message: 'the list of steps is empty; add a step or remove the list',
  };
}

/** What is not there is not offered to the model; the step can do without. */
function checkTools({ step, path }: StepSite, catalogue: Catalogue, origins: Origins): Problem[] {
  if (step.type !== 'llm') return [];
  return (step.tools ?? []).flatMap((name, index): Problem[] => {
    const entry = findCommand(catalogue, name);
    if (entry !== undefined && entry.planned !== true) return [];
    const at = origins.locate(step, path, ['tools', String(index)]);
    if (entry !== undefined) {
      const message = `"${name}" is not available in this version; the model is not offered it`;
      return [{ code: 'COMMAND_NOT_BUILT', severity: 'warning', path: at, message }];
    }
    const near = nearestFix(name, Object.keys(catalogue));
    const message = `there is no command "${name}", so the model is not offered it; ${near.fix ?? remedyFor(name, 'name commands of the catalogue')}`;
    return [{ code: 'UNKNOWN_COMMAND', severity: 'warning', path: at, message, ...near }];
  });
}

function checkCommand({ step, path }: StepSite, catalogue: Catalogue, origins: Origins): Problem[] {
  if (step.type !== 'command') return [];
  const at = origins.locate(step, path, ['command']);
  return checkNamed(step.command, at, catalogue, {
    line: 'write "type": "shell"',
    none: 'a line of shell is a step of type "shell"',
    planned: 'the step fails when it is reached',
  });
}

/** Nobody would hear of a wrong name before an outcome is unknown. */
function checkVerification({ step, path }: StepSite, catalogue: Catalogue, origins: Origins): Problem[] {
  const verification = verificationOf(step);
  if (verification === undefined) return [];
  const at = origins.locate(verification, origins.locate(step, path, ['onUnknown']), ['verify']);
  const shell = 'name "code/shell/execute", and give it a line of shell as "command" in "params"';
  return checkNamed(verification.verify, at, catalogue, {
    line: shell,
    none: shell,
    planned: 'a persona is asked in its place',
  });
}

function checkNamed(
  command: string,
  path: string,
  catalogue: Catalogue,
  { line, none, planned }: { line: string; none: string; planned: string },
): Problem[] {
  if (isTemplate(command)) return [commandFromVariable(command, path)];
  const entry = findCommand(catalogue, command);
  if (entry === undefined) {
    const near = nearestFix(command, Object.keys(catalogue));
    const fix = /\s/.test(command.trim()) ? { fix: line } : near;
    const message = `there is no command "${command}"; ${fix.fix ?? remedyFor(command, none)}`;
    return [{ code: 'UNKNOWN_COMMAND', severity: 'error', path, message, ...fix }];
  }
  if (entry.planned !== true) return [];
  const message = `"${command}" is not available in this version; ${planned}`;
  return [{ code: 'COMMAND_NOT_BUILT', severity: 'warning', path, message }];
}

/** A tool that nobody has accepted is no command yet. */
const remedyFor = (command: string, otherwise: string): string =>
  command.startsWith('mcp/')
    ? '"sentinel mcp list" shows the tools of MCP servers, and "sentinel mcp accept" makes them commands'
    : otherwise;

/** What a step may do is known before a run starts, so the command is no variable's. */
function commandFromVariable(command: string, path: string): Problem {
  const fix =
    'write the name of the command, and choose between several with a condition step; a line of shell is a step of type "shell"';
  return {
    code: 'UNKNOWN_COMMAND',
    severity: 'error',
    path,
    message: `"${command}" is no command: its name cannot come from a variable; ${fix}`,
    fix,
  };
}

function checkCondition({ step, path }: StepSite): Problem[] {
  if (step.type !== 'condition' || step.then !== undefined || step.else !== undefined) return [];
  return [
    {
      code: 'EMPTY_CONDITION',
      severity: 'error',
      path,
      message: 'the condition has neither "then" nor "else"; add one of them',
    },
  ];
}

function checkRules({ step, path }: StepSite): Problem[] {
  if (step.type !== 'watch' || step.rules === undefined) return [];
  return step.rules.flatMap((rule, index) => checkPattern(rule, join(join(join(path, 'rules'), index), 'pattern')));
}

/** Characters that stand for themselves in a pattern, which needs no compiling to be a good one. */
const PLAIN_PATTERN = /^[\w\s"#%&',/:;<=>@`~-]*$/;

function checkPattern(rule: Rule, path: string): Problem[] {
  const bad = (message: string): Problem[] => [{ code: 'BAD_PATTERN', severity: 'error', path, message }];
  if (rule.pattern.length > regexLengthMax)
    return bad(`the pattern has ${rule.pattern.length} characters; at most ${regexLengthMax} are read`);
  if (PLAIN_PATTERN.test(rule.pattern)) return [];
  try {
    RE2JS.compile(rule.pattern);
    return [];
  } catch (error) {
    return bad(
      `the pattern cannot be read: ${error instanceof Error ? error.message : 'unknown reason'}; look-around and back references are not supported`,
    );
  }
}

function checkOutputNames({ step, path }: StepSite, origins: Origins): Problem[] {
  if (step.type === 'set') {
    const at = origins.locate(step, path, ['values']);
    return Object.keys(step.values).flatMap((name) => checkName(name, origins.locate(step.values, at, [name])));
  }
  if (!('outputTo' in step) || step.outputTo === undefined) return [];
  return checkName(step.outputTo, origins.locate(step, path, ['outputTo']));
}

/** What the engine says in a run, the step that starts the run does not say in its place. */
function checkInputNames({ step, path }: StepSite, origins: Origins): Problem[] {
  const inputs: unknown = step.type === 'sentinel' ? step.inputs : undefined;
  if (!isPlain(inputs)) return [];
  const at = origins.locate(step, path, ['inputs']);
  return Object.keys(inputs)
    .filter((name) => BUILT_INS.has(name))
    .flatMap((name) => checkName(name, origins.locate(inputs, at, [name])));
}

/** Of what is made into a name. */
const wordLengthMax = 200;
const WORD = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function checkName(name: string, path: string): Problem[] {
  if (!isSafeName(name))
    return [
      {
        code: 'BAD_NAME',
        severity: 'error',
        path,
        message: `"${name}" cannot be the name of a variable; choose another`,
      },
    ];
  if (BUILT_INS.has(name))
    return [
      {
        code: 'RESERVED_NAME',
        severity: 'error',
        path,
        message: `"${name}" is set by the engine; choose another name`,
      },
    ];
  if (BRACE_ROOTS.has(name)) {
    const message = `"${name}" hides what {{${name}.…}} means to every step after; choose another name`;
    return [{ code: 'RESERVED_NAME', severity: 'warning', path, message }];
  }
  if (WORD.test(name)) return [];
  const word = name
    .slice(0, wordLengthMax)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replace(/^[${\s]+(?:named\.)?/, '')
    .replace(/[}\s]+$/, '')
    .replaceAll(/[^A-Za-z0-9_]+(.)?/g, (_all, next: string | undefined) => next?.toUpperCase() ?? '');
  const fix = WORD.test(word) ? { fix: `write "${word}"` } : {};
  const message = `"${name}" cannot be referred to as $name: a name is letters, digits and "_", and begins with no digit`;
  return [{ code: 'BAD_NAME', severity: 'warning', path, message, ...fix }];
}

function checkDuplicates(sites: Sites, origins: Origins): Problem[] {
  const seen = new Map<object, Map<string, string>>();
  return sites.steps.flatMap(({ step, path, place }) => {
    if (step.name === undefined) return [];
    const names = seen.get(place.definition) ?? new Map<string, string>();
    seen.set(place.definition, names);
    const first = names.get(step.name);
    names.set(step.name, first ?? path);
    if (first === undefined) return [];
    const message = `"${step.name}" is already the name of ${first}; names tell steps apart in logs and references`;
    return [
      {
        code: 'DUPLICATE_NAME',
        severity: 'warning',
        path: origins.locate(step, path, ['name']),
        message,
      } satisfies Problem,
    ];
  });
}
