/** A language server of the project that floods whoever asks it is ended; one that says much within bounds is heard. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Json } from '../../../language/json.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

/** A server that answers, and says something in between. */
const server = (says: string): string => `#!/usr/bin/env node
const send = (message) => {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  return process.stdout.write('Content-Length: ' + Buffer.byteLength(text) + '\\r\\n\\r\\n' + text);
};
const often = async (times, message) => {
  for (let i = 0; i < times; i += 1)
    if (!send(message)) await new Promise((resolve) => process.stdout.once('drain', resolve));
};
let heard = '';
process.stdin.on('data', async (chunk) => {
  heard += chunk;
  for (let at; (at = heard.indexOf('\\r\\n\\r\\n')) >= 0;) {
    const length = Number(/Content-Length: (\\d+)/.exec(heard.slice(0, at))[1]);
    if (heard.length < at + 4 + length) return;
    const { id, method, params } = JSON.parse(heard.slice(at + 4, at + 4 + length));
    heard = heard.slice(at + 4 + length);
    if (method === 'initialize') send({ id, result: { capabilities: {} } });
    if (method === 'shutdown') send({ id, result: null });
    if (method === 'exit') process.exit(0);
    if (method !== 'textDocument/didOpen') continue;
    ${says};
    send({ method: 'textDocument/publishDiagnostics', params: { uri: params.textDocument.uri, diagnostics: [] } });
  }
});
`;

async function ask(says: string): Promise<Json> {
  const project = await temporaryFolder();
  for (const folder of ['node_modules/.bin', 'node_modules/typescript'])
    await mkdir(join(project, folder), { recursive: true });
  await writeFile(join(project, 'a.ts'), '');
  await writeFile(join(project, 'node_modules/typescript/package.json'), '{"name":"typescript","version":"5.0.0"}');
  const program = join(project, 'node_modules/.bin/typescript-language-server');
  await writeFile(program, server(says), { mode: 0o755 });
  return builtInRegistry().run('code/diagnostics', { path: 'a.ts' }, commandContext(project));
}

const log = (length: number): string =>
  `{ method: 'window/logMessage', params: { type: 4, message: 'x'.repeat(${length}) } }`;

test.each([
  ['messages', `await often(1e9, ${log(1)})`, /sent more than 20000 messages/],
  ['bytes', `await often(1e9, ${log(1_000_000)})`, /sent more than 32 MiB/],
  [
    'one message',
    `process.stdout.write('Content-Length: 9999999999\\\\r\\\\n\\\\r\\\\n'); await often(1e9, ${log(1_000_000)})`,
    /sent more than 32 MiB/,
  ],
  [
    'requests',
    "await often(1e9, { id: 1, method: 'workspace/configuration', params: { items: [{}] } })",
    /sent more than 20000 messages/,
  ],
])('%s without an end', async (_what, says, said) => {
  await expect(ask(says)).rejects.toMatchObject({
    code: 'LANGUAGE_SERVER_FAILED',
    message: expect.stringMatching(said),
  });
});

test('a server that has much to say is heard', async () => {
  expect(await ask(`await often(5_000, ${log(1_000)})`)).toMatchObject({
    diagnostics: [],
    files: 1,
    text: 'no findings',
  });
});
