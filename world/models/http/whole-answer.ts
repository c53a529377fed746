/** Answers that are no stream: in one piece, on a page, or none at all. */
import type { JsonObject } from '../../../language/json.ts';

type Head = Pick<Response, 'status' | 'headers'>;

export const labelOf = ({ headers }: Pick<Response, 'headers'>): string => headers.get('content-type') ?? '';

export const isPage = (head: Head): boolean => labelOf(head).includes('text/html');

/** Of success, and nothing follows. */
export const isWithoutAnswer = ({ status }: Head): boolean => status === 204 || status === 205;

/** What is labelled as a stream is read as it comes. */
export function mayBeWhole(expects: 'events' | 'lines' | 'json', head: Head): boolean {
  const label = labelOf(head);
  if (expects === 'events') return !label.includes('text/event-stream');
  return expects === 'lines' && /\bjson\b/.test(label) && !/ndjson|jsonl|json-seq/.test(label);
}

export const asLines = (events: readonly JsonObject[]): string =>
  events.map((event) => `${JSON.stringify(event)}\n`).join('');

export const asEvents = (events: readonly JsonObject[]): string =>
  events
    .map((event) => {
      const { type } = event;
      return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');

export async function bytesIn(body: ReadableStream<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** As it would have come: its end is told when it is kept, and whoever reads it knows then what it cost. */
export function inOnePiece(text: string | Buffer, keep: () => Promise<void>): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (isSent) {
          await keep();
          controller.close();
          return;
        }
        isSent = true;
        controller.enqueue(new Uint8Array(Buffer.from(text as string)));
      },
    },
    { highWaterMark: 0 },
  );
}
