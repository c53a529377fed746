/**
 * The command line: `sentinel VERB …` (verbs.ts). Whatever goes wrong ends here: one sentence on stderr,
 * with --json also one object on stdout, and an exit code.
 */
import { writeSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import type { SystemsHere, SystemWithVerbs } from './system-verb.ts';
import { declareKind } from './request/verb-kind.ts';
import { describeHandles, withLast } from './runs/handles-typed.ts';
import { VERBS } from './verbs.ts';

async function main(argv: readonly string[]): Promise<number> {
  const words = argv.filter((word) => !word.startsWith('-'));
  const [verb, below = ''] = words[0] === 'help' ? words.slice(1) : words;
  let typed = verb;
  try {
    const { system, hint } =
      verb === undefined || Object.hasOwn(VERBS, verb) ? { system: null, hint: '' } : await systemOf(verb, argv);
    if (verb !== undefined && system === null && !Object.hasOwn(VERBS, verb)) {
      const [{ meantVerb }, { usage }] = await Promise.all([
        import('./request/meant-verb.ts'),
        import('./request/usage.ts'),
      ]);
      const known = [...Object.keys(VERBS), ...(await verbsOfSystems()).map(({ name }) => name)];
      const near = meantVerb(verb, known);
      throw usage(`"${verb}" is not a verb; ${near}see "sentinel --help".${hint}`);
    }
    const { program, words: read } = await programFor({ verb, below }, argv, system);
    const command = program.commands.find((one) => one.name() === verb);
    if (command?.commands.some((one) => one.name() === below)) typed = `${verb} ${below}`;
    await program.parseAsync(read, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { reportError } = await import('./output/report-error.ts');
    return reportError(error, { json: argv.includes('--json'), verb: typed });
  }
}

const verbsOfSystems = async (): Promise<{ name: string; summary: string }[]> =>
  (await import('./system-verb.ts')).verbsOfEngine().filter(({ name }) => !Object.hasOwn(VERBS, name));

interface Program {
  program: Command;
  /** As it reads them. */
  words: string[];
}

async function programFor(
  { verb: wanted, below }: { verb: string | undefined; below: string },
  argv: readonly string[],
  system: SystemWithVerbs | null,
): Promise<Program> {
  const program = new Command('sentinel')
    .usage('VERB [options]')
    .description('Durable agent loops written as JSON, on Temporal.')
    .helpCommand('help [VERB]', 'show the help of a verb')
    .helpOption('-h, --help', 'show this help, or after a verb the help of that verb')
    .addHelpText(
      'after',
      '\nEvery verb takes --help and --json.\n\nBegin with:\n  sentinel init         writes a first definition, its test and a CI job\n  sentinel run hello    runs one that comes with the package',
    )
    .option('--version', 'show the version')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action(async ({ version }: { version?: boolean }) => {
      if (version === true) process.stdout.write(`${await ownVersion()}\n`);
      else program.outputHelp();
    });
  let read = [...argv];
  for (const [name, { summary, kind, load }] of Object.entries(VERBS)) {
    const command = program.command(name).summary(summary);
    if (name !== wanted) continue;
    command
      .helpOption('-h, --help', 'show this')
      .option('--json', 'print JSON alone on stdout')
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
    if (kind !== 'group') declareKind(command, kind);
    command.hook('preAction', async (_command, asked) => {
      const { refuseStep } = await import('../client/rights/within-step.ts');
      await refuseStep(pathOf(asked, program), asked.optsWithGlobals(), asked.args);
    });
    const module = await load();
    await module.define(command, argv);
    read = describeHandles(command) ? withLast(argv) : ((await module.read?.(argv)) ?? read);
  }
  // A verb of ours is found without them.
  const others = wanted !== undefined && Object.hasOwn(VERBS, wanted) ? [] : await verbsOfSystems();
  for (const { name, summary } of others) if (name !== system?.name) program.command(name).summary(summary);
  if (system !== null) {
    const group = program.command(system.name).summary(system.summary).exitOverride();
    group.helpOption('-h, --help', 'show this').configureOutput({ writeErr: () => undefined });
    group.option('--json', 'print JSON alone on stdout');
    (await import('./system-verb.ts')).defineSystemVerbs(group, system);
    if (system.run !== undefined && !Object.hasOwn(system.verbs, below))
      await (await import('./system-run.ts')).defineSystemRun(group, system.run, argv);
  }
  return { program, words: read };
}

/** A verb that is none of ours may be a system's of the project. */
async function systemOf(verb: string, argv: readonly string[]): Promise<SystemsHere> {
  const { systemNamed } = await import('./system-verb.ts');
  return systemNamed(verb, argv.includes('--json'));
}

/** `step add`, for a verb of a group. */
const pathOf = (command: Command, program: Command): string =>
  command.parent === null || command.parent === program
    ? command.name()
    : `${pathOf(command.parent, program)} ${command.name()}`;

async function ownVersion(): Promise<string> {
  const [{ ownRoot }, { readFileSync }] = await Promise.all([
    import('../services/home/package-root.ts'),
    import('node:fs'),
  ]);
  return (JSON.parse(readFileSync(`${ownRoot}/package.json`, 'utf8')) as { version: string }).version;
}

/** A closed pipe (`sentinel list | head`) is not an error; a full disk is, and what was to be said is lost. */
function endUnsaid(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(0);
  writeSync(2, `sentinel: the output cannot be written (${error.message}); write it to where there is room.\n`);
  process.exit(1);
}
process.stdout.on('error', endUnsaid);

const code = await main(process.argv.slice(2));
process.stdout.write('', (error) => (error ? endUnsaid(error) : process.exit(code)));
