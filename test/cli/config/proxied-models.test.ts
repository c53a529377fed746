/** `sentinel` on a machine behind a company's proxy: an encrypted provider through its tunnel, and what is said of the proxy. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Double } from '../../models/wires/double.ts';
import { openAiWire } from '../../models/wires/openai-wire.ts';
import { CompanyProxy } from '../../models/wires/proxy.ts';
import { streamed } from '../../models/wires/wire.ts';
import { buildCli, type BuiltCli } from '../processes/built-cli.ts';

const HOST = 'models.elsewhere.test';
const PASSWORD = 'swordfish-12';
let cli: BuiltCli;
let encrypted: Server;
let proxy: CompanyProxy;
let variables: Record<string, string>;
const double = new Double();
beforeAll(async () => {
  [cli] = await Promise.all([buildCli(), double.open()]);
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(cli.folder, name)) as [string, string];
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  encrypted = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    const plain = connect(Number(new URL(double.url).port), '127.0.0.1');
    for (const end of [socket, plain]) end.on('error', () => [socket, plain].forEach((other) => other.destroy()));
    socket.pipe(plain).pipe(socket);
  });
  await new Promise<void>((resolve) => encrypted.listen(0, '127.0.0.1', resolve));
  const { port } = encrypted.address() as AddressInfo;
  proxy = await new CompanyProxy({ port, known: `ada:${PASSWORD}` }).open();
  variables = {
    HTTPS_PROXY: `http://ada:${PASSWORD}@${proxy.address}`,
    NODE_EXTRA_CA_CERTS: cert,
    OPENAI_BASE_URL: `https://${HOST}/v1`,
  };
});
afterAll(async () => {
  encrypted.close();
  await Promise.all([double.close(), proxy.close()]);
  cli.remove();
});

const ask = (env: Record<string, string>): ReturnType<BuiltCli['run']> =>
  cli.run(['models', 'test', 'openai/some-model'], { env });

test('an encrypted provider is asked through a tunnel of the proxy', async () => {
  double.route('/v1/models', { pieces: ['{"data":[{"id":"some-model","max_model_len":8192}]}'] });
  double.next(streamed(openAiWire, openAiWire.events({ parts: [{ text: ['Hi', ' there.'] }], reason: 'stop' })));
  const { code, stdout } = await ask(variables);
  expect(stdout).toContain('Hi there.');
  expect(code).toBe(0);
  expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${HOST}:443`]));
});

test('a password that the proxy does not take is named by its variable, and not shown', async () => {
  const { code, stdout, stderr } = await ask({
    ...variables,
    HTTPS_PROXY: `http://ada:wrong-${PASSWORD}@${proxy.address}`,
  });
  expect(code).toBe(1);
  expect(stdout + stderr).toContain(`http://${proxy.address} (HTTPS_PROXY) (it answered 407)`);
  expect(stdout + stderr).not.toContain(PASSWORD);
});

test('doctor says which proxy is used, without its password', async () => {
  const { stdout } = await cli.run(['doctor'], { env: { ...variables, no_proxy: 'intern.test' } });
  expect(stdout).toContain(
    `https:// through http://${proxy.address} (HTTPS_PROXY); without it this machine and intern.test`,
  );
  expect(stdout).not.toContain(PASSWORD);
  const none = await cli.run(['doctor', '--json']);
  const { entries } = JSON.parse(none.stdout) as { entries: { name: string; found: string }[] };
  expect(entries.find(({ name }) => name === 'proxy')).toMatchObject({
    ok: true,
    found: 'none: servers elsewhere are asked directly',
  });
  const wrong = await cli.run(['doctor'], { env: { https_proxy: `ftp://ada:${PASSWORD}@a:1` } });
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toContain('https_proxy is no address of a proxy');
  expect(wrong.stdout).not.toContain(PASSWORD);
});
