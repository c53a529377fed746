/**
 * An answer of a server, of which no message may be larger than a bound: as a whole, or between two blank lines where it
 * streams events. What reads it keeps a message until it is whole.
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
