/** The search attributes of a run. Each change is an event, so after the start only its status changes. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import type { Definition } from '../../language/model.ts';
import { defined } from '../../language/defined.ts';
import type { RunInput } from '../../interpreter/host.ts';

export const SEARCH_ATTRIBUTES = {
  name: defineSearchAttributeKey('SentinelName', SearchAttributeType.KEYWORD),
  status: defineSearchAttributeKey('SentinelStatus', SearchAttributeType.KEYWORD),
  persona: defineSearchAttributeKey('SentinelPersona', SearchAttributeType.KEYWORD),
  iteration: defineSearchAttributeKey('SentinelIteration', SearchAttributeType.INT),
};

export function searchAttributesOf(input: Pick<RunInput, 'definition' | 'persona'>): SearchAttributePair[] {
  return [
    { key: SEARCH_ATTRIBUTES.name, value: input.definition.name },
    { key: SEARCH_ATTRIBUTES.status, value: 'running' },
    { key: SEARCH_ATTRIBUTES.persona, value: input.persona },
  ];
}

/** What lists of runs show beside them; the name is a search attribute. */
export function memoOf(definition: Definition, project: string, parent?: string): Record<string, string> {
  const { description } = definition;
  return {
    project,
    ...defined({ description, parent }),
  };
}
