/** `sentinel webhook list|add|test|body`: who may send webhooks, and what proves that they arrive. */
import type { Command } from 'commander';
import type { Json } from '../../language/json.ts';
import { isJsonObject } from '../../language/json.ts';
import {
  SourceName,
  WEBHOOK_KINDS,
  webhookSources,
  type WebhookKind,
  type WebhookSource,
} from '../../services/config/webhook-config.ts';
import { configFileOf } from '../../services/config/project-file.ts';
import { ClientError } from '../../runs/client-error.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { table } from '../output/table.ts';
import { givenJson } from '../request/given-json.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { projectConfig } from '../request/project-config.ts';
import { projectFolder } from '../request/run-request.ts';
import { usage } from '../request/usage.ts';
import { nearestOf } from '../../client/nearest.ts';
import { withClient } from '../request/with-client.ts';

interface Options {
  json?: boolean;
  project: string;
}

export function define(verb: Command): void {
  verb
    .description(
      'Receives events from GitHub, GitLab, Stripe, Slack, senders of Standard Webhooks, and whoever can send a token: the sources in "webhooks" of sentinel.config.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel webhook add github
  sentinel webhook test github`,
    );
  defineSubverbs(verb, {
    list: { summary: 'list the sources with their addresses', kind: 'looks', define: defineList },
    add: { summary: 'say how a source is added, with a new secret', kind: 'looks', define: defineAdd },
    test: { summary: 'send a signed request to a source', kind: 'looks', define: defineTest },
    body: { summary: 'print the whole body of a large message', kind: 'looks', define: defineBody },
  });
}

const ofProject = (command: Command): Command =>
  command.option('--project <folder>', 'the project whose sentinel.config names the sources', '.');

async function sourcesOf(project: string, output: Output): Promise<WebhookSource[]> {
  const { config, commands } = await projectConfig(projectFolder(project), output);
  if (config === null) for (const notice of commands.notices) output.note(`sentinel: ${notice}`);
  return webhookSources(config?.webhooks ?? {}, process.env);
}

const secretText = ({ variables, fault }: WebhookSource): string =>
  fault ?? (variables.length === 0 ? 'in sentinel.config' : variables.join(', '));

function defineList(command: Command): void {
  ofProject(command)
    .description(
      'Lists the sources of webhooks with their addresses, and says where the secret of each is from, as this shell has it.',
    )
    .option('--url <base>', 'the address under which senders reach the listener, such as https://hooks.example.org')
    .option('--show-secret', 'print the secrets, too')
    .addHelpText(
      'after',
      `
Examples:
  sentinel webhook list
  sentinel webhook list --json    [{name, kind, address, events, variables, fault}]`,
    )
    .action(async (_options: unknown, self: Command) => {
      const options = self.optsWithGlobals<Options & { url?: string; showSecret?: boolean }>();
      const output = openOutput(options);
      const { sourceAddress } = await import('../../client/triggers/webhook-sources.ts');
      const sources = (await sourcesOf(options.project, output)).map(({ secrets, ...source }) => ({
        ...source,
        address: sourceAddress(source.name, process.env, options.url),
        events: `${source.name}:*`,
        ...(options.showSecret === true ? { secrets } : {}),
        where: secretText({ ...source, secrets }),
      }));
      output.object(sources.map(({ where: _where, ...source }) => source));
      if (sources.length === 0) output.line('No sources. "sentinel webhook add github" says how one is added.');
      const rows = sources.map(({ name, kind, address, where, secrets }) => [
        name,
        kind,
        address,
        secrets === undefined ? where : secrets.join(', '),
      ]);
      for (const line of table(['NAME', 'KIND', 'ADDRESS', 'SECRET'], rows, output.paint)) output.line(line);
    });
}

function defineAdd(command: Command): void {
  ofProject(command)
    .description(
      'Says how a source is added: what stands in sentinel.config, a new secret where the sender does not make it, and what to do at the sender. Writes nothing.',
    )
    .argument('<name>', 'the name of the source, with which its events begin')
    .option('--kind <kind>', `${WEBHOOK_KINDS.join(', ')}; the name, if it is one of them`)
    .option('--url <base>', 'the address under which senders reach the listener')
    .addHelpText(
      'after',
      `
Examples:
  sentinel webhook add github
  sentinel webhook add shop --kind stripe --url https://hooks.example.org --json    {name, kind, address, variable, secret, config, atSender}`,
    )
    .action(async (name: string, _options: unknown, self: Command) => {
      await add(name, self.optsWithGlobals<Options & { kind?: string; url?: string }>());
    });
}

async function add(name: string, options: Options & { kind?: string; url?: string }): Promise<void> {
  const output = openOutput(options);
  const kind = kindOf(options.kind ?? name);
  if (!SourceName.safeParse(name).success)
    throw usage(`"${name}" names no source; write small letters, digits and -, but not chat, file, git or sentinel.`);
  if ((await sourcesOf(options.project, output)).some((source) => source.name === name))
    throw usage(
      `"${name}" is there already; see "sentinel webhook list", and try it with "sentinel webhook test ${name}".`,
    );
  const { AT_SENDER, newSecret, sourceAddress, variableOf } = await import('../../client/triggers/webhook-sources.ts');
  const [variable, secret] = [variableOf(name), newSecret(kind)];
  const entry = `{ ${kind === name ? '' : `kind: '${kind}', `}secret: { env: '${variable}' } }`;
  const config = `webhooks: { ${/^[a-z]\w*$/.test(name) ? name : `'${name}'`}: ${entry} }`;
  const address = sourceAddress(name, process.env, options.url);
  output.object({ name, kind, address, variable, secret, config, atSender: AT_SENDER[kind] });
  output.line(
    `1. In ${configFileOf(projectFolder(options.project))?.path ?? 'sentinel.config.ts (export default { … })'}:`,
  );
  output.line(`     ${config}`);
  output.line('2. Where the services start:');
  output.line(`     export ${variable}=${secret ?? '…'}${secret === null ? '    # the sender shows it, see 3' : ''}`);
  output.line('     sentinel up');
  output.line(`3. At the sender. ${AT_SENDER[kind]}`);
  output.line(`     ${address}`);
  output.line(`4. To prove it: sentinel webhook test ${name}`);
}

function kindOf(given: string): WebhookKind {
  const kind = WEBHOOK_KINDS.find((known) => known === given);
  if (kind === undefined)
    throw usage(`"${given}" is no kind of sender; write --kind with one of ${WEBHOOK_KINDS.join(', ')}.`);
  return kind;
}

interface TestOptions extends Options {
  event?: string;
  data?: string;
  dryRun?: boolean;
}

function defineTest(command: Command): void {
  ofProject(command)
    .description(
      'Sends a request to a source that is signed with its secret, and prints it as a line of curl. It proves the address and the secret, and publishes nothing unless --event says what. Exit code 1 if it is refused, or if nobody listens.',
    )
    .argument('<name>', 'the source')
    .option('--event <kind>', 'publish an event of this kind, such as push')
    .option('--data <json>', 'the data of the event, an object')
    .option('--dry-run', 'print the request alone')
    .addHelpText(
      'after',
      `
Examples:
  sentinel webhook test github
  sentinel webhook test github --event push --data '{"ref": "refs/heads/main"}' --json    {ok, url, headers, body, curl, status, answer}`,
    )
    .action(async (name: string, _options: unknown, self: Command) => {
      process.exitCode = await test(name, self.optsWithGlobals<TestOptions>());
    });
}

async function test(name: string, options: TestOptions): Promise<number> {
  const output = openOutput(options);
  const sources = await sourcesOf(options.project, output);
  const source = sources.find((each) => each.name === name);
  const names = sources.map((each) => each.name);
  if (source === undefined)
    throw usage(
      `no source of sentinel.config is named "${name}"; ${nearestOf(name, names, (near) => `write "${near}", or `)}see "sentinel webhook list".`,
    );
  const { proofOfSource, sendProof, shown, sourceAddress } = await import('../../client/triggers/webhook-sources.ts');
  const url = sourceAddress(name, process.env);
  const proof = await proofOfSource(source, url, eventOf(options));
  const { headers, body } = shown(proof.request, source);
  const answer = options.dryRun === true ? undefined : await sendProof(proof);
  const ok = answer === undefined || (answer !== null && answer.status < 300);
  output.object({
    ok,
    url,
    headers,
    body,
    curl: proof.curl,
    ...(answer === undefined ? {} : { status: answer?.status ?? null, answer: answer?.text ?? null }),
  });
  output.line(proof.curl);
  if (answer === null)
    output.line(`Nobody answers at ${url}: run "sentinel up" in the project, with the secret in the environment.`);
  else if (answer !== undefined) output.line(`${ok ? 'Accepted' : 'Refused'} with ${answer.status}. ${answer.text}`);
  return ok ? EXIT.ok : EXIT.failed;
}

function eventOf({ event, data }: TestOptions): { kind: string; data: { [key: string]: Json } } | undefined {
  if (event === undefined && data !== undefined)
    throw usage('--data belongs to --event; write --event KIND before it.');
  if (event === undefined) return undefined;
  const value = data === undefined ? {} : givenJson('--data', data, `write an object such as '{"ref": "main"}'`);
  if (!isJsonObject(value)) throw usage(`--data is not an object; write one such as '{"ref": "main"}'.`);
  return { kind: event, data: value };
}

function defineBody(command: Command): void {
  command
    .description(
      'Prints the body of a message that was too large for the data of its event, as it came, by the "payload.id" of that data. Exit code 4 if there is none.',
    )
    .argument('<id>', 'the id of the payload')
    .addHelpText(
      'after',
      `
Examples:
  sentinel webhook body 9f86d081884c7d65… > push.json
  sentinel webhook body 9f86d081884c7d65… --json    {id, bytes, text}`,
    )
    .action(async (id: string, _options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      process.exitCode = await withClient(output, async (client) => {
        const { bodyKey } = await import('../../services/webhooks/senders/senders.ts');
        const body = await client.payload(bodyKey(id));
        if (body === null)
          throw new ClientError(
            'NOT_FOUND',
            `no body is kept under "${id}"; its id stands in "payload.id" of the data of its event.`,
          );
        if (output.json) output.object({ id, bytes: body.length, text: Buffer.from(body).toString('utf8') });
        else output.raw(Buffer.from(body).toString('utf8'));
        return EXIT.ok;
      });
    });
}
