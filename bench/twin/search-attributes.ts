/** The twin keeps the same search attributes as a run does. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

const text = (name: string, value: string) => ({
  key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
  value,
});

export const twinAttributes = [
  text('SentinelName', 'twin'),
  text('SentinelStatus', 'running'),
  text('SentinelPersona', 'bench'),
];
