/**
 * Where a run stood within a segment that acted on the world: its history has where the segment began, and the store where
 * each commit left it.
 */
import { laterRows, type LastRow, rowKey, type SegmentRow, standingAfter } from '../../interpreter/segment-rows.ts';
import type { Reply } from '../../interpreter/effect.ts';
import { type BlockFrame, openIn } from '../../interpreter/position.ts';
import { defined } from '../../language/defined.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { walkIntoSegment } from '../../workflows/history/kept-host.ts';
import type { RetraceTarget, Standing } from '../../workflows/history/retrace.ts';

type Row = SegmentRow | LastRow;

/** Right before the step that is looked for where it acted itself, or else behind the last one that acted before it. */
export async function standingInSegment(
  { journal }: Pick<Store, 'journal'>,
  handle: string,
  standing: Standing,
  { key, seq }: RetraceTarget,
): Promise<Standing> {
  const { segment } = standing;
  if (segment === undefined || seq === null) return standing;
  const first = await journal.find(handle, rowKey(segment, 1));
  const rows = [first, ...(await journal.rows(handle, laterRows(segment)))] as unknown as (Row | null)[];
  const replies: { [key: string]: Reply } = Object.assign({}, ...rows.map((row) => row?.replies)) as never;
  // It is begun again.
  delete replies[key];
  const stands = rows.filter((row): row is SegmentRow => row !== null && 'seq' in row);
  const claimed = stands.findIndex((row) => actsIn(row).includes(key));
  const until = claimed === -1 ? stands.findLastIndex((row) => row.seq < seq) : claimed;
  const found = standingAfter(structuredClone(stands.slice(0, until + 1)));
  if (found === null) return standing;
  const { frame, set, tally, steps, ...besides } = found;
  const unended = blocksOf(frame).filter(
    ({ step }) => step?.type === 'acting' && replies[step.effect.key]?.ok !== true,
  );
  for (const block of unended) delete block.step;
  const { spent, skipped } = besides;
  const report = {
    flow: { kind: 'yield' as const },
    frame,
    set,
    tally,
    // Those that are begun again count then.
    steps: steps - unended.length,
    ...defined({ spent, skipped }),
  };
  return { ...standing, ...(await walkIntoSegment(standing, report, replies)) };
}

const actsIn = ({ frame }: SegmentRow): string[] =>
  blocksOf(frame).flatMap(({ step }) => (step?.type === 'acting' ? [step.effect.key] : []));

/** The block of a strand, and all that are open in it. */
function blocksOf(frame: SegmentRow['frame']): BlockFrame[] {
  const found: BlockFrame[] = [];
  const waiting = 'loop' in frame ? [frame.loop.block, frame.loop.context?.block] : [frame.block];
  for (let block = waiting.pop(); block !== undefined || waiting.length > 0; block = waiting.pop()) {
    if (block === undefined) continue;
    found.push(block);
    const open = openIn(block);
    if (open?.type === 'condition') waiting.push(open.block, open.cleanUp?.block);
    if (open?.type === 'loop') waiting.push(open.loop.block);
    if (open?.type === 'parallel') waiting.push(...open.branches.map((branch) => branch.block));
  }
  return found;
}
