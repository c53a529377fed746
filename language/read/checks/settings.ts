/** What the schema cannot say of a definition's settings: when it starts, what it may read, and limits that can never be met. */
import { Cron } from 'croner';
import { shortened } from '../../events/preview.ts';
import type { Problem } from '../../problems.ts';
import { nearestFix } from '../remedies/meant-word.ts';
import { isPlain, lastKey, type Origins } from '../draft/draft.ts';
import type { DefinitionSite, Sites } from '../inventory/sites.ts';
import { isBadEvent } from './events.ts';
import { zoneIn } from '../../references/times.ts';

export function checkSettings(sites: Sites, origins: Origins): Problem[] {
  return sites.definitions.flatMap((site) => {
    const at = (...path: string[]): string => origins.locate(site.value, site.path, path);
    return [
      ...checkTrigger(site, at),
      ...checkEnvironment(site, at),
      ...checkEscalation(site, at),
      ...checkLimits(site, at),
    ];
  });
}

type At = (...path: string[]) => string;

function checkTrigger({ value }: DefinitionSite, at: At): Problem[] {
  const { trigger } = value;
  if (!isPlain(trigger)) return [];
  const { cronExpression: cron, timeZone: zone, event } = trigger;
  const problems: Problem[] = [];
  if (trigger['type'] === 'event' && typeof event === 'string')
    problems.push(...isBadEvent(event, at('trigger', 'event'), 'watched'));
  if (trigger['type'] !== 'schedule') return problems;
  if (typeof zone === 'string' && zoneIn(zone) === undefined) {
    const fix = nearestFix(zone, Intl.supportedValuesOf('timeZone'));
    problems.push({
      code: 'BAD_TIME_ZONE',
      severity: 'error',
      path: at('trigger', 'timeZone'),
      message: `"${zone}" is not a time zone; ${fix.fix ?? 'write a name such as "Europe/Zurich" or "UTC"'}`,
      ...fix,
    });
  }
  const reason = typeof cron === 'string' ? badCron(cron) : undefined;
  if (reason !== undefined)
    problems.push({ code: 'BAD_CRON', severity: 'error', path: at('trigger', 'cronExpression'), message: reason });
  return problems;
}

/** Any moment does to see whether a time ever comes: the calendar repeats itself. */
export const SOME_DAY = Date.UTC(2024, 0, 1);

/** In characters; every minute, hour and day spelt out has some 500. */
export const CRON_LENGTH_MAX = 1000;

function badCron(cron: string): string | undefined {
  if (cron.length > CRON_LENGTH_MAX)
    return `"${shortened(cron, 40)}" is longer than ${CRON_LENGTH_MAX} characters; write ranges, such as 0-29, and steps, such as */5`;
  const five = 'write five parts: minute, hour, day of month, month, day of week (0 3 * * 1 is Mondays at three)';
  try {
    const next = new Cron(cron.trim(), { paused: true, mode: '5-part', timezone: 'UTC' }).nextRun(new Date(SOME_DAY));
    return next === null || next === undefined ? `"${cron}" names a time that never comes; ${five}` : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^\w+: /, '') : 'unknown reason';
    const isSpoken = /[A-Za-z]{4}/.test(cron);
    return `"${cron}" cannot be read${isSpoken ? '' : ` (${reason.slice(0, 200)})`}; ${five}${isSpoken ? '; */5 * * * * is every five minutes' : ''}`;
  }
}

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function badEnvName(name: string, path: string): Problem[] {
  if (ENV_NAME.test(name)) return [];
  return [
    {
      code: 'BAD_ENV_NAME',
      severity: 'error',
      path,
      message: `"${name.slice(0, 100)}" cannot be the name of an environment variable; use letters, digits and "_", beginning with no digit`,
    },
  ];
}

function checkEnvironment({ value }: DefinitionSite, at: At): Problem[] {
  const { env } = value;
  if (!Array.isArray(env)) return [];
  return env.flatMap((name: unknown, index) =>
    typeof name === 'string' ? badEnvName(name, at('env', String(index))) : [],
  );
}

/** The first rule of a condition decides. */
const PRIORITIES: readonly string[] = ['low', 'normal', 'high', 'urgent'];

function checkEscalation({ value }: DefinitionSite, at: At): Problem[] {
  const rules = Array.isArray(value['escalateOn']) ? value['escalateOn'] : [];
  // As at run time: the highest priority holds, the first among equals.
  const best = new Map<unknown, { index: number; rank: number }>();
  for (const [index, rule] of rules.entries()) {
    if (!isPlain(rule)) continue;
    const { priority = 'normal' } = rule;
    const rank = typeof priority === 'string' ? PRIORITIES.indexOf(priority) : -1;
    const known = best.get(rule['condition']);
    if (known === undefined || rank > known.rank) best.set(rule['condition'], { index, rank });
  }
  return rules.flatMap((rule: unknown, index): Problem[] => {
    const condition = isPlain(rule) ? rule['condition'] : undefined;
    // An approval is asked for whatever the rule does besides.
    const asks = condition === 'approval_needed' || (isPlain(rule) && rule['action'] === 'pause');
    if (isPlain(rule) && rule['remindAfterMs'] !== undefined && !asks)
      return [
        {
          code: 'KEY_WITHOUT_EFFECT',
          severity: 'warning',
          path: at('escalateOn', String(index), 'remindAfterMs'),
          message: `"remindAfterMs" has no effect: with "${String(rule['action'])}" nothing is asked`,
          fix: 'remove it',
        },
      ];
    const holds = best.get(condition)?.index ?? index;
    if (holds === index) return [];
    const message = `rule ${holds} already says what happens on "${String(condition)}", with no lower priority; this one is never used`;
    return [{ code: 'UNREACHABLE_RULE', severity: 'warning', path: at('escalateOn', String(index)), message }];
  });
}

function checkLimits({ value }: DefinitionSite, at: At): Problem[] {
  const safety = isPlain(value['safety']) ? value['safety'] : {};
  const loop = isPlain(value['loop']) ? value['loop'] : {};
  const problems: Problem[] = [];
  const never = (path: string, name: string, limit: unknown, by: string, less: unknown): void => {
    problems.push(...unreachableLimit({ path, key: name, limit, before: `${by} ends the run`, less }));
  };
  never(at('timeoutMs'), 'timeoutMs', value['timeoutMs'], '"safety.timeoutMs"', safety['timeoutMs']);
  never(
    at('safety', 'timeoutMs'),
    'timeoutMs',
    safety['timeoutMs'],
    'the definition\'s "timeoutMs"',
    value['timeoutMs'],
  );
  for (const key of ['max', 'maxIterations'])
    never(at('loop', key), key, loop[key], '"safety.maxIterations"', safety['maxIterations']);
  never(
    at('safety', 'maxStepTimeoutMs'),
    'maxStepTimeoutMs',
    safety['maxStepTimeoutMs'],
    '"safety.timeoutMs"',
    safety['timeoutMs'],
  );
  return problems;
}

interface Limits {
  path: string;
  key: string;
  limit: unknown;
  /** What happens at `less`. */
  before: string;
  less: unknown;
}

/** A warning where something ends before a limit; with its unit where the author wrote a time in another. */
export function unreachableLimit({ path, key, limit, before, less }: Limits): Problem[] {
  if (typeof limit !== 'number' || typeof less !== 'number' || !(limit > less)) return [];
  const own = lastKey(path, key);
  // The canonical key says the unit, where the author's own may count in another.
  const isOtherUnit = key.endsWith('Ms') && own !== key;
  const message = `"${own}" is ${limit}${isOtherUnit ? ' ms' : ''} and is never reached: ${before} at ${less}`;
  return [
    {
      code: 'UNREACHABLE_LIMIT',
      severity: 'warning',
      path,
      message,
      fix: isOtherUnit ? `write "${key}": ${less}` : `write ${less}`,
    },
  ];
}
