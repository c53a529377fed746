/** Messages that other code reads: what is JSON in them is exact, whatever pieces they come in. */
import { expect, test } from 'vitest';
import { exactMessages } from '../../../world/http/messages.ts';
import { ExactLines } from '../../../language/numbers/exact-lines.ts';

const BIG = '12345678901234567890';

const streamed = (text: string, pieces: number, type: string): Response => {
  const bytes = new TextEncoder().encode(text);
  const size = Math.ceil(bytes.length / pieces);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  return new Response(body, { status: 201, headers: { 'content-type': type } });
};

test.each([1, 7, 1000])('in %i pieces', async (pieces) => {
  const lines = `{"id": ${BIG}, "text": "né ${BIG}"}\r\n\n{"share": 3.3333333333333333, "size": 1e400}`;
  const read = await exactMessages(streamed(lines, pieces, 'application/x-ndjson'), 'nearest').text();
  expect(read).toBe(`{"id": "${BIG}", "text": "né ${BIG}"}\r\n\n{"share": 3.3333333333333333, "size": "1e400"}`);
  const events = `id: ${BIG}\ndata: {"id": ${BIG}}\n\n: ${BIG}\n`;
  const response = exactMessages(streamed(events, pieces, 'text/event-stream; charset=utf-8'), 'exact');
  expect(response.status).toBe(201);
  expect(await response.text()).toBe(`id: ${BIG}\ndata: {"id": "${BIG}"}\n\n: ${BIG}\n`);
});

test('a line is given as soon as it is whole', () => {
  const lines = new ExactLines('exact');
  expect(lines.push(Buffer.from('{"a": 3.33333333'))).toBe('');
  expect(lines.push(Buffer.from('33333333}\n{"b"'))).toBe('{"a": "3.3333333333333333"}\n');
  expect(lines.end()).toBe('{"b"');
});
