/** What Ollama's errors mean. They are sentences alone; those that matter are told apart by their words. */
import { isJsonObject, type Json } from '../../../language/json.ts';
import { explainStatus, refused, type Subject } from '../http/explain-status.ts';
import type { Refusal } from '../http/refusal.ts';
import { TurnError, type Finding } from '../port/turn-failure.ts';

export function explainOllama(subject: Subject, refusal: Refusal): TurnError {
  const said = sentence(refusal.body) || refusal.text;
  if (refusal.status === 404 && /not found/i.test(said))
    return new TurnError(
      { kind: 'model-not-found', retired: false },
      `${subject.name}/${subject.model}: Ollama does not have this model; run "sentinel models pull ${subject.name}/${subject.model}"`,
      { status: refusal.status },
    );
  const finding = findingOf(said);
  return finding === null ? explainStatus(subject, refusal, said) : refused(subject, refusal, finding, said);
}

function sentence(body: Json): string {
  const error = isJsonObject(body) ? body['error'] : null;
  return typeof error === 'string' ? error : '';
}

function findingOf(said: string): Finding | null {
  if (/does not support tools/i.test(said)) return { kind: 'unsupported', what: 'tools' };
  if (/does not support (?:images?|vision)|missing data required for image input/i.test(said))
    return { kind: 'unsupported', what: 'images' };
  if (/does not support thinking|invalid think/i.test(said)) return { kind: 'bad-request', field: 'think' };
  if (/exceeds? (?:the )?(?:maximum |available )?context|input (?:length|is too long)|context length/i.test(said))
    return { kind: 'context-too-long', ...numbersIn(said) };
  if (/requires more system memory|not enough memory/i.test(said)) return { kind: 'bad-request', field: 'num_ctx' };
  return null;
}

function numbersIn(said: string): { tokens: number | null; window: number | null } {
  const [tokens, window] = Array.from(said.matchAll(/\d{3,}/g), ([found]) => Number(found));
  return { tokens: tokens ?? null, window: window ?? null };
}
