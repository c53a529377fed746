/** Triggers: one word or one text for what starts a run (`"manual"`, `"git:push"`, `"0 3 * * *"`), tags and spellings. */
import { standIn, within, type Draft, type Plain } from '../draft.ts';
import { renameAll, rewriteSpelling } from './spelling.ts';
import { TRIGGER_TAGS, rewriteTag, rewriteTypeWord, rewriteWords } from './variants.ts';

const CRON = /^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|[\d*,/?LW#-]+(?:\s+[\dA-Za-z*,/?#-]+){4,6})$/;

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
    if (inner.value['type'] !== undefined) return;
    if (Object.hasOwn(inner.value, 'cronExpression')) inner.value['type'] = 'schedule';
    else if (Object.hasOwn(inner.value, 'event')) inner.value['type'] = 'event';
  });
}

function triggerIn(text: string): Plain {
  const word = text.toLowerCase();
  if (Object.hasOwn(TRIGGER_TAGS, word)) return { type: word };
  return CRON.test(text) ? { type: 'schedule', cronExpression: text } : { type: 'event', event: text };
}
