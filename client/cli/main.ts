/**
 * The command line: `sentinel VERB …`. This file knows the verbs' names alone; a verb's code is loaded
 * when it is asked for. Whatever goes wrong ends here: one sentence on stderr, with --json also one
 * object on stdout, and an exit code.
 */
import { Command, CommanderError } from 'commander';

interface VerbModule {
  define(command: Command): void;
}

const VERBS: Readonly<Record<string, { summary: string; load: () => Promise<VerbModule> }>> = {
  validate: { summary: 'check definitions and report all problems at once', load: () => import('./verbs/validate.ts') },
  normalize: { summary: 'print the canonical form of a definition', load: () => import('./verbs/normalize.ts') },
  schema: { summary: 'print the JSON Schema of definitions', load: () => import('./verbs/schema.ts') },
  explain: { summary: 'say what a definition will do, touch and cost', load: () => import('./verbs/explain.ts') },
  graph: { summary: 'draw a definition or a run as a Mermaid flowchart', load: () => import('./verbs/graph.ts') },
  test: { summary: 'run the tests of definitions', load: () => import('./verbs/test.ts') },
  simulate: { summary: 'walk through a definition without any effect', load: () => import('./verbs/simulate.ts') },
  run: { summary: 'start a run and follow it to its end', load: () => import('./verbs/run.ts') },
  status: { summary: 'show how a run stands', load: () => import('./verbs/status.ts') },
  list: { summary: 'list runs, newest first', load: () => import('./verbs/list.ts') },
  trace: { summary: 'show the steps of a run as a tree', load: () => import('./verbs/trace.ts') },
  diff: { summary: 'compare two runs step by step', load: () => import('./verbs/diff.ts') },
  fork: { summary: 'start a new run from any step of an old one', load: () => import('./verbs/fork.ts') },
  replay: {
    summary: "walk a run's history again and report where it diverges",
    load: () => import('./verbs/replay.ts'),
  },
  logs: { summary: 'show what the steps of a run printed', load: () => import('./verbs/logs.ts') },
  follow: { summary: 're-attach to a run', load: () => import('./verbs/follow.ts') },
  pause: { summary: 'hold a run before its next step', load: () => import('./verbs/pause.ts') },
  resume: { summary: 'let a held run go on', load: () => import('./verbs/resume.ts') },
  inbox: { summary: 'show what runs ask', load: () => import('./verbs/inbox.ts') },
  answer: { summary: 'answer what a run asks', load: () => import('./verbs/answer.ts') },
  step: { summary: 'see and edit the steps of a run', load: () => import('./verbs/step.ts') },
  stop: { summary: 'end a run after the step under way', load: () => import('./verbs/stop.ts') },
  cancel: { summary: 'interrupt a run', load: () => import('./verbs/cancel.ts') },
  models: { summary: 'show which models can be reached, and get one', load: () => import('./verbs/models.ts') },
  schedule: { summary: 'start runs on a clock', load: () => import('./verbs/schedule.ts') },
  trigger: { summary: 'let events start runs', load: () => import('./verbs/trigger.ts') },
  emit: { summary: 'publish an event', load: () => import('./verbs/emit.ts') },
  hooks: { summary: 'publish commits and pushes as events', load: () => import('./verbs/hooks.ts') },
  up: { summary: 'start the services', load: () => import('./verbs/up.ts') },
  down: { summary: 'stop the services', load: () => import('./verbs/down.ts') },
  doctor: {
    summary: 'show what was found where, and what to do about what is missing',
    load: () => import('./verbs/doctor.ts'),
  },
  worker: { summary: 'run a worker alone, in the foreground', load: () => import('./verbs/worker.ts') },
};

async function main(argv: readonly string[]): Promise<number> {
  const words = argv.filter((word) => !word.startsWith('-'));
  const [verb] = words[0] === 'help' ? words.slice(1) : words;
  try {
    if (verb !== undefined && !Object.hasOwn(VERBS, verb)) {
      const { nearestOf, usage } = await import('./request/usage.ts');
      throw usage(
        `"${verb}" is not a verb; ${nearestOf(verb, Object.keys(VERBS), (name) => `write "${name}", or `)}see "sentinel --help".`,
      );
    }
    await (await programFor(verb)).parseAsync(argv, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { reportError } = await import('./output/report-error.ts');
    return reportError(error, { json: argv.includes('--json'), verb });
  }
}

async function programFor(wanted: string | undefined): Promise<Command> {
  const program = new Command('sentinel')
    .usage('VERB [options]')
    .description('Durable agent loops written as JSON, on Temporal.')
    .helpCommand('help [VERB]', 'show what a verb takes')
    .helpOption('-h, --help', 'show this, or after a verb what the verb takes')
    .addHelpText(
      'after',
      '\nEvery verb takes --help and --json.\n\nBegin with:\n  sentinel run sentinels/examples/hello.json',
    )
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action(() => program.outputHelp());
  for (const [name, { summary, load }] of Object.entries(VERBS)) {
    const command = program.command(name).summary(summary);
    if (name !== wanted) continue;
    command
      .helpOption('-h, --help', 'show this')
      .option('--json', 'print JSON alone on stdout')
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
    (await load()).define(command);
  }
  return program;
}

/** A reader that went away (`sentinel list | head`) is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const code = await main(process.argv.slice(2));
process.stdout.write('', () => process.exit(code));
