/**
 * The program inside a server's own network: starts the server, waits until it listens, and hands on to it what
 * comes through two sockets. It ends when the server ends, and ends it when it is told to end itself.
 *
 *     node gate.js NETWORK SERVER_SOCKET WEB_SOCKET PROGRAM ARGUMENTS…
 *
 * NETWORK is that of whoever started it: in the same one there would be no wall, and nothing is started.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts, LOOPBACK } from '../processes/ports.ts';
import { INSIDE, networkOfOurs } from './inside.ts';

const POLL_MS = 25;
/** How a proxy is asked to connect. Temporal's core dials a socket as a proxy alone. */
const ASKS = 'CONNECT ';
const ASKED_BYTES_MAX = 4096;
const CONNECTED = 'HTTP/1.1 200 OK\r\n\r\n';

const [, , outer, serverSocket, webSocket, program, ...args] = process.argv;
if (outer === undefined || serverSocket === undefined || webSocket === undefined || program === undefined)
  throw new Error('bug: the gate needs a network, two sockets and a program');
if (outer === networkOfOurs()) throw new Error('the gate stands in the network of everybody: nothing is started');

process.umask(0o077);
// In a group of its own, so that it is told once to end.
const server = spawn(program, args, { stdio: 'inherit', detached: true });
server.once('error', (error) => {
  process.stderr.write(`${program} does not start: ${error.message}\n`);
  process.exit(1);
});
server.once('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => server.kill('SIGTERM'));

await Promise.all([handOn(serverSocket, INSIDE.port), handOn(webSocket, INSIDE.uiPort)]);

/** From when the server listens. */
async function handOn(path: string, port: number): Promise<void> {
  while (!(await accepts({ host: LOOPBACK, port }))) await sleep(POLL_MS);
  rmSync(path, { force: true });
  createServer((outside) => receive(outside, port)).listen(path);
}

/** What is asked of a proxy is answered here; wherever it is to connect, it is to our server. */
function receive(outside: Socket, port: number): void {
  let begun = Buffer.alloc(0);
  outside.on('error', () => outside.destroy());
  outside.on('data', function first(chunk: Buffer) {
    begun = Buffer.concat([begun, chunk]);
    const asks = begun.subarray(0, ASKS.length).toString('latin1');
    if (asks !== ASKS.slice(0, asks.length)) return join(begun);
    const end = begun.indexOf('\r\n\r\n');
    if (end < 0) return begun.length > ASKED_BYTES_MAX ? void outside.destroy() : undefined;
    outside.write(CONNECTED);
    join(begun.subarray(end + 4));

    function join(head: Buffer): void {
      outside.off('data', first);
      const inside = connect({ host: LOOPBACK, port, noDelay: true });
      inside.on('error', () => inside.destroy());
      inside.on('close', () => outside.destroy());
      outside.on('close', () => inside.destroy());
      if (head.length > 0) inside.write(head);
      outside.pipe(inside).pipe(outside);
    }
  });
}
