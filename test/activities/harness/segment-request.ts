/** What a workflow asks of a segment that begins where a run does, at its first step. */
import type { SegmentRequest } from '../../../interpreter/contract.ts';
import { portionOf, type RunInput } from '../../../interpreter/host.ts';
import { firstPosition } from '../../../interpreter/position.ts';
import { textFieldsOf } from '../../../interpreter/program.ts';
import { rootStrand, type Walk } from '../../../interpreter/walk-state.ts';
import { PLACES, segmentNumbers } from '../../../language/events/event-numbers.ts';

/** `seq`: the number behind which its events are. */
export function segmentRequest(input: RunInput, key: string, seq = segmentNumbers(0).from): SegmentRequest {
  const position = firstPosition(0);
  const walk = { input, position, textFields: textFieldsOf(input) } as unknown as Walk;
  const { tally, pausedMs, extensions } = position;
  const strand = portionOf(rootStrand(walk));
  return { strand, key, seq, places: PLACES, stepsMax: 10, tally, pausedMs, extensions, forget: [] };
}
