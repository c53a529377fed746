/** Triggers: one word or one text for what starts a run (`"manual"`, `"git:push"`, `"0 3 * * *"`), tags and spellings. */
import { infer, isPlain, pathOf, rename, standIn, within, type Draft, type Plain } from '../draft/draft.ts';
import { renameAll, rewriteSpelling } from './spelling.ts';
import { TRIGGER_TAGS, rewriteTag, rewriteTypeWord, rewriteWords } from './variants.ts';
import { zoneIn } from '../../references/times.ts';

const CRON =
  /^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|[\d*,/?LW#-]+(?:\s+[\dA-Za-z*,/?#-]+){4,6})$/;

/** What cron knows by a word of its own, with an "@" before it. */
const EACH: ReadonlySet<string> = new Set(['yearly', 'annually', 'monthly', 'weekly', 'daily', 'midnight', 'hourly']);

/** A time in words, which no event is named like; the check of cron expressions says how to write it. */
const SPOKEN = /^(?:@?every|each|at|(?:hour|dai|week|month|year)ly)\s/i;

const SCHEDULES = ['cron', 'schedule', 'expression'];

export function rewriteTrigger(draft: Draft): void {
  if (Object.hasOwn(draft.value, 'triggers')) {
    if (!Object.hasOwn(draft.value, 'trigger')) infer(draft, 'has "triggers", which is read as its "trigger"');
    rename(draft, 'triggers', 'trigger');
  }
  takeOnly(draft, 'trigger');
  const { trigger } = draft.value;
  if (typeof trigger === 'string' && trigger.trim() !== '') standIn(draft, 'trigger', triggerIn(trigger.trim()));
  within(draft, 'trigger', (inner) => {
    rewriteTag(inner, TRIGGER_TAGS);
    rewriteSpelling(inner);
    for (const key of ['event', 'cronExpression', ...SCHEDULES]) takeOnly(inner, key);
    for (const key of ['cronExpression', ...SCHEDULES]) takeCron(inner, key);
    rewriteTypeWord(inner);
    if (inner.value['type'] === 'cron') inner.value['type'] = 'schedule';
    renameAll(inner, SCHEDULES, 'cronExpression');
    renameAll(inner, ['timezone', 'tz'], 'timeZone');
    rewriteWords(inner);
    const { cronExpression } = inner.value;
    if (typeof cronExpression === 'string' && EACH.has(cronExpression.trim().toLowerCase()))
      inner.value['cronExpression'] = `@${cronExpression.trim().toLowerCase()}`;
    inner.value = withZone(inner.value);
    if (inner.value['type'] !== undefined) return;
    if (Object.hasOwn(inner.value, 'cronExpression')) inner.value['type'] = 'schedule';
    else if (Object.hasOwn(inner.value, 'event')) inner.value['type'] = 'event';
  });
}

/** A list of one stands for its member. */
function takeOnly(draft: Draft, key: string): void {
  const list = draft.value[key];
  if (!Array.isArray(list) || list.length !== 1) return;
  const path = pathOf(draft, key);
  draft.origins.inferred.push(`${path} is read from a list of one`);
  draft.value[key] = list[0];
  draft.moved.set(key, draft.origins.child(list, path, 0));
}

/** `{"cron": "0 3 * * *"}` inside the key of a schedule. */
function takeCron(draft: Draft, key: string): void {
  const inner = draft.value[key];
  if (!isPlain(inner) || Object.keys(inner).length !== 1 || typeof inner['cron'] !== 'string') return;
  draft.moved.set(key, draft.origins.child(inner, pathOf(draft, key), 'cron'));
  draft.value[key] = inner['cron'];
}

function withZone(trigger: Plain): Plain {
  const { timeZone } = trigger;
  const zone = typeof timeZone === 'string' ? zoneIn(timeZone) : undefined;
  return zone === undefined ? trigger : { ...trigger, timeZone: zone };
}

function triggerIn(written: string): Plain {
  const text = written.replace(/^cron:?\s+/i, '');
  const word = text.toLowerCase();
  if (Object.hasOwn(TRIGGER_TAGS, word)) return { type: word };
  if (EACH.has(word)) return { type: 'schedule', cronExpression: `@${word}` };
  return CRON.test(text) || SPOKEN.test(text)
    ? { type: 'schedule', cronExpression: text }
    : { type: 'event', event: text };
}
