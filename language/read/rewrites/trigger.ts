/** Triggers: one word or one text for what starts a run (`"manual"`, `"git:push"`, `"0 3 * * *"`), tags and spellings. */
import { standIn, within, type Draft, type Plain } from '../draft.ts';
import { renameAll, rewriteSpelling } from './spelling.ts';
import { TRIGGER_TAGS, rewriteTag, rewriteTypeWord, rewriteWords } from './variants.ts';

const CRON = /^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|[\d*,/?LW#-]+(?:\s+[\dA-Za-z*,/?#-]+){4,6})$/;

/** What cron knows by a word of its own, with an "@" before it. */
const EACH: ReadonlySet<string> = new Set(['yearly', 'annually', 'monthly', 'weekly', 'daily', 'midnight', 'hourly']);

/** A time in words, which no event is named like; the check of cron expressions says how to write it. */
const SPOKEN = /^(?:@?every|each|at|(?:hour|dai|week|month|year)ly)\s/i;

export function rewriteTrigger(draft: Draft): void {
  const { trigger } = draft.value;
  if (typeof trigger === 'string' && trigger.trim() !== '') standIn(draft, 'trigger', triggerIn(trigger.trim()));
  within(draft, 'trigger', (inner) => {
    rewriteTag(inner, TRIGGER_TAGS);
    rewriteSpelling(inner);
    rewriteTypeWord(inner);
    if (inner.value['type'] === 'cron') inner.value['type'] = 'schedule';
    renameAll(inner, ['cron', 'schedule', 'expression'], 'cronExpression');
    renameAll(inner, ['timezone', 'tz'], 'timeZone');
    rewriteWords(inner);
    const { cronExpression } = inner.value;
    if (typeof cronExpression === 'string' && EACH.has(cronExpression.trim().toLowerCase())) inner.value['cronExpression'] = `@${cronExpression.trim().toLowerCase()}`;
    inner.value = withZone(inner.value);
    if (inner.value['type'] !== undefined) return;
    if (Object.hasOwn(inner.value, 'cronExpression')) inner.value['type'] = 'schedule';
    else if (Object.hasOwn(inner.value, 'event')) inner.value['type'] = 'event';
  });
}

/** Zones are files to whoever keeps schedules, so capitals count. */
function withZone(trigger: Plain): Plain {
  const { timeZone: zone } = trigger;
  if (typeof zone !== 'string') return trigger;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone.trim() }).resolvedOptions();
    return timeZone.toLowerCase() === zone.trim().toLowerCase() ? { ...trigger, timeZone } : trigger;
  } catch {
    return trigger;
  }
}

function triggerIn(written: string): Plain {
  const text = written.replace(/^cron:?\s+/i, '');
  const word = text.toLowerCase();
  if (Object.hasOwn(TRIGGER_TAGS, word)) return { type: word };
  if (EACH.has(word)) return { type: 'schedule', cronExpression: `@${word}` };
  return CRON.test(text) || SPOKEN.test(text) ? { type: 'schedule', cronExpression: text } : { type: 'event', event: text };
}
