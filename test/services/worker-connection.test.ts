/** Over the wire: a server that notes with which headers a worker greets it. */
import { createServer, type Http2Server, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectWorker, nativeOptions } from '../../worker/worker-connection.ts';

/** Not compressed, of no bytes: a server of which nothing is known. */
const emptyMessage = Buffer.alloc(5);

const greetings: IncomingHttpHeaders[] = [];
let server: Http2Server;
let port: number;

beforeAll(async () => {
  server = createServer();
  server.on('stream', (stream, headers) => {
    greetings.push(headers);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(emptyMessage);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => server.close());

describe('the connection of a worker', () => {
  it('is not compressed on this machine', async () => {
    const connection = await connectWorker({ address: `127.0.0.1:${port}` });
    await connection.close();
    expect(greetings.map((headers) => headers[':path'])).toEqual([
      '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo',
    ]);
    expect(greetings[0]?.['grpc-encoding'] ?? 'identity').toBe('identity');
    expect(greetings[0]?.['grpc-accept-encoding'] ?? 'identity').toBe('identity');
  });

  const here = ['localhost:7233', 'LocalHost:7233', '127.0.0.1:7233', '127.8.9.1:1', '[::1]:7233'];
  it.each(here)('is plain to %s', (address) =>
    expect(nativeOptions({ address })).toEqual({ address, grpcCompression: { codec: 'none' } }),
  );

  const elsewhere = [
    'temporal:7233',
    '127.example.com:7233',
    '10.0.0.7:7233',
    'localhost.example.com:7233',
    '[2001:db8::1]:7233',
    'ns.tmprl.cloud:7233',
  ];
  it.each(elsewhere)('is as the SDK has it to %s', (address) =>
    expect(nativeOptions({ address })).toEqual({ address }),
  );
});
