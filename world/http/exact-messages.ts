/** An answer of a server whose JSON is read by somebody else's code, in which no number becomes another one. */
import type { Decimals } from '../../language/numbers/exact-json.ts';
import { ExactLines } from '../../language/numbers/exact-lines.ts';

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
