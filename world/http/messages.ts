/**
 * Answers of a server that somebody else's code reads: one message is never too large for its reader, and no number in
 * its JSON becomes another one.
 */
import type { Decimals } from '../../language/numbers/exact-json.ts';
import { ExactLines } from '../../language/numbers/exact-lines.ts';

/**
 * No message may be larger than the bound: as a whole, or between two blank lines where the server streams events. What
 * reads it keeps a message until it is whole.
 */
export function boundedMessages(response: Response, bytesMax: number): Response {
  if (response.body === null) return response;
  const streams = response.headers.get('content-type')?.includes('text/event-stream') === true;
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const blank = streams ? endOfBlank(chunk) : -1;
      bytes = blank === -1 ? bytes + chunk.length : chunk.length - blank;
      if (bytes > bytesMax) controller.error(new Error(`a message of the server is larger than ${bytesMax} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bound), { status, statusText, headers });
}

/** Behind the last blank line of a chunk; one that is cut in two counts with the next. */
function endOfBlank(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const ends = ['\n\n', '\r\n\r\n', '\r\r'].map((blank) => [text.lastIndexOf(blank), blank.length] as const);
  return Math.max(...ends.map(([at, length]) => (at === -1 ? -1 : at + length)));
}

/** A text in JSON has no line ends, so its lines are read one by one; of a stream of events, those with data. */
export function exactMessages(response: Response, decimals: Decimals): Response {
  if (response.body === null) return response;
  const streams = response.headers.get('content-type')?.includes('text/event-stream') === true;
  const lines = new ExactLines(decimals, (line) => !streams || line.startsWith('data:'));
  const encoder = new TextEncoder();
  const exact = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const text = lines.push(chunk);
      if (text !== '') controller.enqueue(encoder.encode(text));
    },
    flush(controller) {
      const text = lines.end();
      if (text !== '') controller.enqueue(encoder.encode(text));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(exact), { status, statusText, headers });
}
