/** What a draft says about itself, for whoever decides upon it, and a definition does not know. */
import type { Json, JsonObject } from '../../json.ts';

const ABOUT_DRAFTS: readonly string[] = ['sourceInboxItem', 'reason', 'priority', 'title'];

/** `dropped`: the keys that were left out, in the order of the draft. */
export function withoutDraftKeys(written: JsonObject): { definition: JsonObject; dropped: string[] } {
  const dropped = Object.keys(written).filter((key) => ABOUT_DRAFTS.includes(key));
  if (dropped.length === 0) return { definition: written, dropped };
  const kept = Object.entries(written).filter(([key]): boolean => !dropped.includes(key));
  return { definition: Object.fromEntries<Json>(kept), dropped };
}

export const droppedWarning = (dropped: readonly string[]): string =>
  `${dropped.map((key) => `"${key}"`).join(', ')} of the draft ${dropped.length === 1 ? 'is' : 'are'} not stored: a definition has no such key`;
