/** Where a run stands, as the Web UI of Temporal shows it. */
import { costSoFar } from '../../interpreter/models/model-turn.ts';

import { openModels } from '../../interpreter/models/open-models.ts';
import type { ModelFrame, Position } from '../../interpreter/position.ts';
import type { RunState } from '../messages/messages.ts';

export function detailsOf({ status, iteration, steps, current, reason }: RunState, position: Position): string {
  const turns = new Map(openModels(position).map((frame) => [frame.key, turnWords(frame)]));
  const lines = [...current].slice(0, 20).map(({ key, label }) => `- \`${key}\` ${label}${turns.get(key) ?? ''}`);
  const head = `**${status}**${reason === null ? '' : ` (${reason})`}, pass ${iteration}, ${steps} steps`;
  return [head, '', ...lines].join('\n');
}

function turnWords(frame: ModelFrame): string {
  const { tokens } = costSoFar(frame);
  return `, turn ${frame.turn}${tokens === 0 ? '' : `, ${tokens} tokens so far`}`;
}
