/** Where a run stands, as the Web UI of Temporal shows it. */
import type { Definition } from '../../language/model.ts';
import { dayWords, groupWords, nestedDayWords } from '../../language/events/event-words.ts';
import type { Stillness } from '../../interpreter/holds.ts';
import { labelOf } from '../../interpreter/build-effect.ts';
import { costSoFar } from '../../interpreter/models/model-turn.ts';
import { openModels } from '../../interpreter/models/open-models.ts';
import type { ModelFrame, Position } from '../../interpreter/position.ts';
import { stepsAt } from '../../interpreter/program.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import type { RunState } from '../messages/messages.ts';

export function detailsOf({ status, iteration, steps, current, reason }: RunState, position: Position): string {
  const turns = new Map(openModels(position).map((frame) => [frame.key, turnWords(frame)]));
  const lines = [...current].slice(0, 20).map(({ key, label }) => `- \`${key}\` ${label}${turns.get(key) ?? ''}`);
  const head = `**${status}**${reason === null ? '' : ` (${reason})`}, pass ${iteration}, ${steps} steps`;
  return [head, '', ...lines].join('\n');
}

/** What holds the run, as a person reads it; null where nothing does. */
export function waitsFor({ position, input }: Walk): string | null {
  const { paused, questions, group, place, still } = position;
  if (paused !== null) return paused.reason;
  const [first, ...others] = questions;
  if (first !== undefined)
    return `waits for an answer: ${first.message}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
  if (group?.behind !== undefined) return groupWords({ group: group.name, state: 'waiting', holder: group.behind });
  if (place?.ahead === undefined) return still === undefined ? null : stillWords(input.persona, still);
  return groupWords({ of: 'persona', group: input.persona, state: 'waiting', ahead: place.ahead });
}

/** Null before it is known until when. */
function stillWords(persona: string, { until, withNested }: Stillness): string | null {
  if (until !== undefined) return dayWords(persona, until);
  return withNested === true ? nestedDayWords(persona) : null;
}

function turnWords(frame: ModelFrame): string {
  const { tokens } = costSoFar(frame);
  return `, turn ${frame.turn}${tokens === 0 ? '' : `, ${tokens} tokens so far`}`;
}

/** What the step of a key does, as the events say it; empty where the key is no step's own, or began after an edit. */
export function labelAt(key: string, definition: Definition): string {
  const path = key.slice(0, Math.max(0, key.lastIndexOf('@')));
  if (path.includes('~')) return '';
  const at = path.lastIndexOf('.');
  const step = stepsAt(definition, path.slice(0, at))[Number(path.slice(at + 1).split(/[#~]/)[0])];
  return step === undefined ? '' : labelOf(step);
}
