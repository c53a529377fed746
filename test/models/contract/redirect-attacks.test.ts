/** A server that sends on to another one: neither the prompt nor the key goes there. */
import { describe, expect, test } from 'vitest';
import { McpConnection } from '../../../world/mcp/connection.ts';
import { failureOf, replyOf, say, turn, useDouble, WIRES } from '../harness/turns.ts';

describe.each(WIRES)('%s', (_name, wire) => {
  const double = useDouble();
  const other = useDouble();

  test.each([301, 302, 303, 307, 308])('a redirect (%d) to another server is not followed', async (status) => {
    double().forget();
    double().next({ status, headers: { location: `${other().url}/v1/messages?key=k` } });
    const failure = await failureOf(turn(wire, double()));
    expect(failure).toMatchObject({ kind: 'redirected' });
    expect(failure.message).toContain(other().url);
    expect(failure.message).not.toContain('key=k');
    expect(other().asked).toEqual([]);
  });

  test('nor one behind a redirect within the server', async () => {
    double().forget();
    double().next(
      { status: 307, headers: { location: '/first' } },
      { status: 308, headers: { location: other().url } },
    );
    expect(await failureOf(turn(wire, double()))).toMatchObject({ kind: 'redirected' });
    expect(other().asked).toEqual([]);
  });

  test('nor one to another scheme, nor a circle', async () => {
    for (const location of ['file:///etc/passwd', 'data:text/plain,x', 'http://[', '//127.0.0.1:1/']) {
      double().forget();
      double().next({ status: 307, headers: { location } });
      expect(await failureOf(turn(wire, double()))).toMatchObject({ kind: 'redirected' });
    }
    double().forget();
    double().next(...Array.from({ length: 9 }, () => ({ status: 307, headers: { location: '/again' } })));
    expect(await failureOf(turn(wire, double()))).toMatchObject({ kind: 'redirected' });
  });

  test('one within the server is followed, with the whole request', async () => {
    double().forget();
    double().next({ status: 307, headers: { location: '/moved/here' } }, say(wire));
    const reply = await replyOf(turn(wire, double()));
    expect(reply.blocks).toMatchObject([{ type: 'text', text: 'Hello there.' }]);
    const [before, after] = double().asked.slice(-2);
    expect(after).toMatchObject({ path: '/moved/here', body: before?.body, method: 'POST' });
  });
});

describe('an MCP server over HTTP', () => {
  const double = useDouble();
  const other = useDouble();

  test('that sends on to another server gets its headers no further', async () => {
    const headers = { 'x-api-key': 'key-of-a-server' };
    double().next({ status: 307, headers: { location: `${other().url}/mcp` } });
    const connection = new McpConnection('tracker', { url: `${double().url}/mcp`, headers }, process.cwd());
    const limits = { signal: new AbortController().signal, timeoutMs: 10_000 };
    await expect(connection.tools(limits)).rejects.toMatchObject({
      code: 'MCP_UNREACHABLE',
      message: expect.stringContaining(other().url) as unknown,
    });
    expect(double().asked.at(-1)?.headers).toMatchObject(headers);
    expect(other().asked).toEqual([]);
    await connection.close();
  });
});
