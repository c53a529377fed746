/**
 * What MCP servers answer, read so that what is odd takes nothing with it: a tool without a schema takes anything, and
 * of a result what is of an unknown kind is named.
 */
import { ContentBlockSchema, type ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { isJsonObject, type Json } from '../../language/json.ts';
import type { McpTool } from './settings.ts';

export const CallResult = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});

export const ListedTools = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** Without those that have no name. */
export function listedTools(found: readonly unknown[]): McpTool[] {
  return found.flatMap((tool): McpTool[] => {
    const said = tool as { [key: string]: Json };
    if (!isJsonObject(said) || typeof said['name'] !== 'string' || said['name'] === '') return [];
    const { name, description, inputSchema, outputSchema, annotations } = said;
    return [
      {
        name,
        ...(typeof description === 'string' ? { description } : {}),
        inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
        ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
        ...(isJsonObject(annotations) ? { annotations } : {}),
      },
    ];
  });
}

/** The parts that anybody knows, and the kinds of the others. */
export function knownParts(content: readonly unknown[]): { parts: ContentBlock[]; others: string[] } {
  const read = content.map((part) => ({ part, known: ContentBlockSchema.safeParse(part) }));
  return {
    parts: read.flatMap(({ known }) => (known.success ? [known.data] : [])),
    others: read.flatMap(({ part, known }) => (known.success ? [] : [kindOf(part)])),
  };
}

function kindOf(part: unknown): string {
  const said = part as Json;
  const type = isJsonObject(said) ? said['type'] : undefined;
  return typeof type === 'string' && type !== '' ? type.slice(0, 100) : 'a part without a type';
}
