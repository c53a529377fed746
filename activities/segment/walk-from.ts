/** The walk of a segment: the interpreter over the one strand that was handed over, with its share of the budget. */
import type { HandedOver, SegmentRequest } from '../../interpreter/contract.ts';
import type { Host, RunInput, Strand } from '../../interpreter/host.ts';
import { firstPosition, type Position } from '../../interpreter/position.ts';
import { textFieldsOf } from '../../interpreter/program.ts';
import { rootStrand } from '../../interpreter/walk-state.ts';
import type { Anchor, Walk } from '../../interpreter/walk-state.ts';
import { defined } from '../../language/defined.ts';

type Portion = Omit<HandedOver, 'key' | 'places'> & Partial<Pick<SegmentRequest, 'tally'>>;

export function walkFrom(input: RunInput, request: Portion, host: Host): { walk: Walk; strand: Strand } {
  const limits = { ...input.limits, ...defined({ budget: request.budget }) };
  const walk: Walk = {
    input: { ...input, limits },
    position: positionFrom(request),
    host,
    textFields: textFieldsOf(input),
    ...anchorOf(request),
  };
  return { walk, strand: strandFrom(walk, request) };
}

function positionFrom(request: Portion): Position {
  const { frame, own } = request.strand;
  const position = firstPosition(0);
  return {
    ...position,
    ...('loop' in frame ? { loop: frame.loop } : {}),
    own,
    seq: request.seq,
    tally: request.tally ?? position.tally,
    pausedMs: request.pausedMs,
    extensions: request.extensions,
    ...(request.edited === undefined ? {} : { revision: request.edited.revision, skips: request.edited.skips }),
  };
}

function anchorOf({ edited, strand: { path, frame } }: Portion): { anchor?: Anchor } {
  return edited === undefined || !('block' in frame) ? {} : { anchor: { path, at: edited.at, block: frame.block } };
}

function strandFrom(walk: Walk, request: Portion): Strand {
  return request.strand.path === '' ? rootStrand(walk) : { ...request.strand, cancelled: false, within: null };
}
