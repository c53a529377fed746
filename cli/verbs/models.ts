/** `sentinel models list|test|pull|add`: which models can be reached, and how to get one. */
import type { Command } from 'commander';
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { ShownModel, ShownProvider } from '../../world/models/inventory.ts';
import type { CircuitState } from '../../client/contract/shown.ts';
import { circuitWords } from '../../services/inspect-rows.ts';
import type { Prices } from '../../world/models/records/facts.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { table } from '../output/table.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { usage } from '../request/usage.ts';
import { Progress } from '../request/with-client.ts';

export function define(verb: Command): void {
  verb
    .description(
      'Shows and gets models. Keys and addresses come from the environment (ANTHROPIC_API_KEY, OLLAMA_HOST, OPENAI_API_KEY, …) and from sentinel.config of this folder.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel models list
  sentinel models add ./tiny.gguf
  sentinel models test local/tiny`,
    );
  defineSubverbs(verb, {
    list: { summary: 'show the models that can be reached', kind: 'looks', define: defineList },
    test: { summary: 'ask a model for one short answer', kind: 'looks', define: defineTest },
    pull: { summary: 'load a model into Ollama', kind: 'acts', define: definePull },
    add: { summary: 'give a GGUF file a name', kind: 'acts', define: defineAdd },
  });
}

interface Options {
  json?: boolean;
}

function defineList(command: Command): void {
  command
    .description(
      'Shows each provider, whether it answers, and its models with size, window, abilities and price. Exit code 1 if no model can be reached.',
    )
    .addHelpText(
      'after',
      `
WINDOW is what a turn gets, in tokens; NOW is what is allocated for a model that is loaded. PRICE is US dollars
for a million tokens in and out.

Examples:
  sentinel models list
  sentinel models list --json    [{name, kind, health, circuit, models: [{name, sizeBytes, window, allocated, facts}]}]`,
    )
    .action(async (_options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<Options>());
      const [{ withModels }, { inventory }] = await Promise.all([
        import('../request/open-models.ts'),
        import('../../world/models/inventory.ts'),
      ]);
      const [listed, circuits] = await Promise.all([
        withModels(output, ({ directory }) => inventory(directory, new AbortController().signal)),
        providerCircuits(),
      ]);
      const shown = listed.map((provider) => ({ ...provider, circuit: circuits.get(provider.name) ?? null }));
      output.object(shown);
      showProviders(shown, output);
      process.exitCode = shown.some(({ models }) => models.length > 0) ? EXIT.ok : EXIT.failed;
    });
}

type Shown = ShownProvider & { circuit: CircuitState | null };

/** Circuit breakers of providers that failed recently, by the provider's name. */
async function providerCircuits(): Promise<Map<string, CircuitState>> {
  const [{ readConfig }, { circuitStates }] = await Promise.all([
    import('../../services/config/config.ts'),
    import('../../services/inspect-rows.ts'),
  ]);
  const found = await circuitStates(readConfig().database.url);
  return new Map(found.map((circuit) => [circuit.subject.replace(/^provider:/, ''), circuit]));
}

function showProviders(shown: readonly Shown[], output: Output): void {
  const { good, bad, strong } = output.paint;
  for (const { name, health, models, circuit } of shown) {
    const state = health.ok ? `${models.length} models, answered in ${health.ms} ms` : health.message;
    output.line(`${health.ok ? good('✔') : bad('✖')} ${strong(name)}  ${state}`);
    if (circuit !== null && circuit.state !== 'closed')
      output.line(output.paint.warn(`⚠ ${name} is ${circuitWords(circuit)}`));
  }
  const rows = shown.flatMap(({ models }) => models.map((model) => rowOf(model)));
  if (rows.length > 0) output.line();
  for (const line of table(['MODEL', 'SIZE', 'WINDOW', 'NOW', 'TAKES', 'PRICE'], rows, output.paint)) output.line(line);
  const retiring = shown.flatMap(({ models }) => models.filter(({ facts }) => facts.retires !== null));
  for (const { name, facts } of retiring)
    output.line(
      output.paint.warn(
        `⚠ ${name} is retired on ${facts.retires?.on ?? ''}; use ${facts.retires?.instead ?? 'another'}`,
      ),
    );
}

function rowOf({ name, sizeBytes, window, allocated, facts }: ShownModel): string[] {
  const takes = [
    ...(facts.tools ? ['tools'] : []),
    ...(facts.images ? ['images'] : []),
    ...(facts.thinking === null ? [] : ['thinking']),
    ...(facts.adapters ? ['adapters'] : []),
  ];
  return [name, sizeText(sizeBytes), countText(window), countText(allocated), takes.join(' '), priceText(facts.prices)];
}

const sizeText = (bytes: number | null): string => {
  if (bytes === null) return '';
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
};
const countText = (count: number | null): string => (count === null ? '' : count.toLocaleString('en-US'));

function priceText(prices: Prices | null): string {
  if (prices === null) return '';
  return prices.input === 0 && prices.output === 0 ? 'free' : `${prices.input} / ${prices.output}`;
}

function defineTest(command: Command): void {
  command
    .description(
      'Asks a model for one short answer, and shows which model answered, why it was chosen, and how long it took. Exit code 1 if it fails.',
    )
    .argument('[model]', 'a model as a step names it: auto, an id, or provider/model, with adapters after +', 'auto')
    .option('--prompt <text>', 'the prompt', 'Say hello in one short sentence.')
    .addHelpText(
      'after',
      `
Examples:
  sentinel models test
  sentinel models test anthropic/claude-haiku-5-5
  sentinel models test local/tiny+./style.gguf@0.5 --prompt "Who are you?" --json`,
    )
    .action(async (model: string, _options: unknown, self: Command) => {
      process.exitCode = await testModel(model, self.optsWithGlobals<Options & { prompt: string }>());
    });
}

async function testModel(asked: string, options: Options & { prompt: string }): Promise<number> {
  const output = openOutput(options);
  const [{ withModels }, { askOnce }] = await Promise.all([
    import('../request/open-models.ts'),
    import('../../world/models/ask-once.ts'),
  ]);
  const progress = new Progress(output);
  progress.say(`asking ${asked}`);
  const tested = await withModels(output, (models) => askOnce(models, asked, options.prompt)).finally(() =>
    progress.end(),
  );
  output.object(tested);
  if (!tested.ok) {
    output.note(`sentinel: ${tested.failure.message}`);
    return EXIT.failed;
  }
  const { name, reason, notices, text, usage: used, ms } = tested;
  output.line(
    `${output.paint.good('✔')} ${output.paint.strong(name)}${reason === null ? '' : `  ${output.paint.dim(reason)}`}`,
  );
  for (const notice of notices) output.line(output.paint.warn(`⚠ ${notice}`));
  output.line(text.trim());
  const counted = `${used.input + used.cacheRead + used.cacheWrite} tokens in, ${used.output} out`;
  output.line(output.paint.dim(`${counted}${used.estimated ? ' (estimated)' : ''}, ${ms} ms`));
  return EXIT.ok;
}

function definePull(command: Command): void {
  command
    .description('Loads a model into Ollama, or another provider that loads models. Exit code 1 if it fails.')
    .argument('<model>', 'the model, such as ollama/qwen3:8b, or qwen3:8b')
    .addHelpText(
      'after',
      `
Examples:
  sentinel models pull ollama/qwen3:8b
  sentinel models pull qwen3:8b --json    {ok, name}`,
    )
    .action(async (model: string, _options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<Options>());
      const [{ withModels }, { pullModel }] = await Promise.all([
        import('../request/open-models.ts'),
        import('../../world/models/ask-once.ts'),
      ]);
      const progress = new Progress(output);
      const pulled = await withModels(output, (models) =>
        pullModel(models, model, (text) => progress.say(text)),
      ).finally(() => progress.end());
      output.object(pulled);
      if (pulled.ok)
        output.line(`${output.paint.good('✔')} ${pulled.name} is there; try "sentinel models test ${pulled.name}"`);
      else output.note(`sentinel: ${pulled.failure.message}`);
      process.exitCode = pulled.ok ? EXIT.ok : EXIT.failed;
    });
}

function defineAdd(command: Command): void {
  command
    .description(
      'Gives a GGUF file a name, so that steps can use it as the model local/NAME, and "auto" can choose it. The file stays where it is.',
    )
    .argument('<file>', 'a GGUF file of a whole model')
    .option('--name <name>', "letters, digits and . _ : - (default: the file's)")
    .addHelpText(
      'after',
      `
Examples:
  sentinel models add ~/models/tiny.gguf
  sentinel models add ./Qwen3-4B-Q4_K_M.gguf --name qwen --json    {ok, name, path, sizeBytes, window}`,
    )
    .action(async (file: string, _options: unknown, self: Command) => {
      process.exitCode = await addModel(file, self.optsWithGlobals<Options & { name?: string }>());
    });
}

async function addModel(given: string, options: Options & { name?: string }): Promise<number> {
  const output = openOutput(options);
  const path = resolve(given);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) throw usage(`${given} is not a file; give the path of a GGUF file.`);
  const name = options.name ?? basename(path).replace(/\.gguf$/i, '');
  if (!/^[A-Za-z0-9][\w.:-]*$/.test(name) || /\.gguf$/i.test(name))
    throw usage(`--name ${name} cannot name a model; use letters, digits, and . _ : -`);
  const [{ withModels }, { addLocal }] = await Promise.all([
    import('../request/open-models.ts'),
    import('../../world/models/ask-once.ts'),
  ]);
  const added = await withModels(output, (models) => addLocal(models, name, path));
  output.object(added.ok ? { ...added, sizeBytes: found.size } : added);
  if (!added.ok) {
    output.note(`sentinel: ${added.failure.message}`);
    return EXIT.failed;
  }
  output.line(`${output.paint.good('✔')} ${added.name}  ${sizeText(found.size)}, window ${countText(added.window)}`);
  output.line(`Try it with "sentinel models test ${added.name}".`);
  return EXIT.ok;
}
