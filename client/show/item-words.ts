/** Items of a list in a few words. */
import type { ItemsAgain, ItemsEnd } from '../../language/events/run-event.ts';

const shownMax = 12;

/** What the line of a list's step says behind its outcome. */
export function itemsEndWords({ count, failed, failedAt = [], retraced }: ItemsEnd): string {
  const parts = [counted(count)];
  if (failed > 0) parts.push(`${failed} failed (${numbers(failedAt, failed)})`);
  if (retraced !== undefined) parts.push(`${retraced} retraced`);
  return parts.join(', ');
}

/** `of`: the run that is forked. */
export const againWords = ({ at, items, performed, kept }: ItemsAgain, of: string): string =>
  `of ${at}, ${counted(performed)} ${performed === 1 ? 'is' : 'are'} performed again (${numbers(items, performed)}), and ${kept} ${kept === 1 ? 'result is that' : 'results are those'} of ${of}`;

const counted = (count: number): string => (count === 1 ? '1 item' : `${count} items`);

/** `3, 7-9`; `of`: how many there are. */
function numbers(items: readonly number[], of: number): string {
  const ranges: [number, number][] = [];
  for (const item of items) {
    const last = ranges.at(-1);
    if (last?.[1] === item - 1) last[1] = item;
    else ranges.push([item, item]);
  }
  const shown = ranges.slice(0, shownMax).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  const isWhole = ranges.length <= shownMax && items.length >= of;
  return isWhole ? shown.join(', ') : `${shown.join(', ')}, …`;
}
