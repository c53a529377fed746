/** The search attributes a run starts with. Each later change is an event, so only its status changes. */
import type { SearchAttributePair } from '@temporalio/common';
import type { RunInput } from './interpreter/host.ts';
import { SEARCH_ATTRIBUTES } from './messages.ts';

export function searchAttributesOf(input: Pick<RunInput, 'definition' | 'persona'>): SearchAttributePair[] {
  return [
    { key: SEARCH_ATTRIBUTES.name, value: input.definition.name },
    { key: SEARCH_ATTRIBUTES.status, value: 'running' },
    { key: SEARCH_ATTRIBUTES.persona, value: input.persona },
  ];
}
