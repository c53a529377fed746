/** What a tool of an MCP server answered, as the result of a command. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Json, JsonObject } from '../../language/json.ts';
import { Failure } from '../failures/failures.ts';
import { knownParts } from './odd-answers.ts';

const messageLengthMax = 4_000;

/** Its structured content where it has some; else its texts as one, what is no text beside it, and the kinds of what nobody knows. */
export function callValue(command: string, { isError, structuredContent, content: given }: CallToolResult): Json {
  const { parts: content, others } = knownParts(given);
  const texts = content.flatMap((part) => textIn(part));
  if (isError === true) {
    const said = texts.join('\n').trim();
    const message = `${command}: ${said === '' ? 'it failed without a word' : said}`;
    throw new Failure('MCP_TOOL_FAILED', message.slice(0, messageLengthMax));
  }
  if (structuredContent !== undefined) return structuredContent as JsonObject;
  const images = content.flatMap((part) =>
    part.type === 'image' || part.type === 'audio' ? [{ mediaType: part.mimeType, data: part.data }] : [],
  );
  const resources = content.flatMap((part): JsonObject[] => {
    if (part.type === 'resource_link') return [{ uri: part.uri, name: part.name }];
    if (part.type !== 'resource' || !('blob' in part.resource)) return [];
    return [{ uri: part.resource.uri, data: part.resource.blob }];
  });
  return {
    text: texts.join('\n'),
    ...(images.length === 0 ? {} : { images }),
    ...(resources.length === 0 ? {} : { resources }),
    ...(others.length === 0 ? {} : { others }),
  };
}

function textIn(part: CallToolResult['content'][number]): string[] {
  if (part.type === 'text') return [part.text];
  return part.type === 'resource' && 'text' in part.resource ? [part.resource.text] : [];
}
