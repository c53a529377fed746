/** What `systems` of a `sentinel.config` may say, each refusal in words that name the field. */
import * as z from 'zod';
import { Failures, isSchema, parametersOf, SystemCommand } from './own-commands.ts';

const Permission = z.enum(['read', 'write', 'shell', 'delete', 'network']);
/** Without a word of the configuration. */
const MAY = ['read', 'write'] as const;

/** 30 days. */
const EVERY_MS_MAX = 30 * 24 * 3600 * 1000;

const Schema = z.custom<z.ZodType>(isSchema, 'must be a schema of zod 4; "z" of sentinel-engine/commands makes one');
const Line = z.string().min(1).max(200);

/** How a worker of the project performs the commands of a queue. */
const Queue = z.strictObject({ atOnce: z.number().int().min(1).max(1_000), elsewhere: z.boolean().default(false) });
const Queues = z.record(z.string().max(60), Queue);

const OwnSystem = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,39}$/, 'a system is named by small letters, digits and -, at most 40, a letter first'),
    summary: Line,
    commands: z.array(SystemCommand).min(1),
    tables: z.record(z.string().min(1).max(100), z.string().min(1)).default({}),
    events: z.record(z.string().min(1).max(200), Schema).default({}),
    failures: Failures.default({}),
    settings: Schema.optional(),
    definitions: z.record(z.string().min(1), z.looseObject({})).default({}),
    followers: z.record(z.string(), z.strictObject({ event: z.string().min(1), command: z.string() })).default({}),
    queues: Queues.default({}),
    background: z
      .record(
        z.string().max(100),
        z.strictObject({ everyMs: z.number().int().min(1_000).max(EVERY_MS_MAX), command: z.string() }),
      )
      .default({}),
    layers: z.strictObject({ layer: z.string(), genome: z.string() }).optional(),
    verbs: z
      .record(z.string(), z.strictObject({ summary: Line, command: z.string(), args: z.array(z.string()).default([]) }))
      .default({}),
    run: z.strictObject({ definition: z.string(), args: z.array(z.string()).default([]) }).optional(),
  })
  .superRefine((system, context) => {
    const refuse = (path: (string | number)[], message: string): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    const { name, commands, events, followers, queues, background, verbs, run, definitions, layers = {} } = system;
    for (const [kind, named] of Object.entries({ followers, queues, background, verbs }))
      for (const one of Object.keys(named))
        if (!/^[a-z][a-z0-9-]*$/.test(one)) refuse([kind, one], 'a name has small letters, digits and -');
    const own = new Map(commands.map((command) => [command.name, command]));
    for (const [index, command] of commands.entries()) {
      if (!command.name.startsWith(`${name}/`))
        refuse(['commands', index, 'name'], `the commands of the system "${name}" begin with "${name}/"`);
      if (commands.findIndex((one) => one.name === command.name) < index)
        refuse(['commands', index, 'name'], `"${command.name}" is there already; choose another name`);
      const { queue } = command;
      if (queue !== undefined && !Object.hasOwn(queues, queue))
        refuse(
          ['commands', index, 'queue'],
          `the system "${name}" states no queue "${queue}"; add it to "queues": { ${JSON.stringify(queue)}: { atOnce: 1 } }`,
        );
    }
    for (const event of Object.keys(events))
      if (!event.startsWith(`${name}:`))
        refuse(['events', event], `the events of the system "${name}" begin with "${name}:"`);
    const missing = missingIn(name);
    for (const [follower, { command }] of Object.entries(followers)) {
      const found = own.get(command);
      if (found === undefined) refuse(['followers', follower, 'command'], missing(command));
      else if (found.speed !== 'quick')
        refuse(['followers', follower, 'command'], `"${command}" takes long, and what follows an event is quick`);
    }
    checkLayers(layers, { name, own, refuse });
    for (const [task, { command }] of Object.entries(background)) {
      const found = own.get(command);
      const at = ['background', task, 'command'];
      if (found === undefined) refuse(at, missing(command));
      else if (!found.params.safeParse({}).success)
        refuse(at, `"${command}" is performed without parameters, and needs some`);
      else if (found.doors?.includes('background') === false)
        refuse(at, `"${command}" names its "doors", and "background" is none of them`);
    }
    checkRun(run, { name, definitions, refuse });
    for (const [verb, { command, args }] of Object.entries(verbs)) {
      const found = own.get(command);
      if (found === undefined) refuse(['verbs', verb, 'command'], missing(command));
      else {
        const properties = parametersOf(found.params)['properties'] ?? {};
        const taken = OPTIONS.find((option) => Object.hasOwn(properties, option));
        if (taken !== undefined)
          refuse(
            ['verbs', verb, 'command'],
            `"${command}" has a parameter "${taken}", and every verb has an option of that name`,
          );
        for (const arg of args)
          if (!Object.hasOwn(properties, arg))
            refuse(['verbs', verb, 'args'], `"${command}" has no parameter "${arg}"`);
      }
    }
  });

const missingIn =
  (system: string) =>
  (command: string): string =>
    `there is no command "${command}" in the system "${system}"`;

interface Checking {
  name: string;
  own: ReadonlyMap<string, { speed: string }>;
  refuse: (path: (string | number)[], message: string) => void;
}

function checkLayers(layers: { [what: string]: string }, { name, own, refuse }: Checking): void {
  for (const [what, command] of Object.entries(layers)) {
    const found = own.get(command);
    if (found === undefined) refuse(['layers', what], missingIn(name)(command));
    else if (found.speed !== 'quick')
      refuse(['layers', what], `"${command}" takes long, and a turn of a model waits for it; make it quick`);
  }
}

const Named = z.record(z.string(), z.unknown()).default({});
/** Where a definition names its inputs. */
const Declared = z.looseObject({ inputs: Named, inputSchema: z.looseObject({ properties: Named }).optional() });

function checkRun(
  run: { definition: string; args: string[] } | undefined,
  {
    name,
    definitions,
    refuse,
  }: Pick<Checking, 'name' | 'refuse'> & { definitions: { [definition: string]: { [field: string]: unknown } } },
): void {
  if (run === undefined) return;
  const definition = Object.hasOwn(definitions, run.definition) ? definitions[run.definition] : undefined;
  if (definition === undefined) {
    refuse(['run', 'definition'], `there is no definition "${run.definition}" in the system "${name}"`);
    return;
  }
  const { data: declared } = Declared.safeParse(definition);
  // What is wrong with the definition itself is said where it is read.
  if (declared === undefined) return;
  const inputs = declared.inputSchema?.properties ?? declared.inputs;
  for (const arg of run.args)
    if (!Object.hasOwn(inputs, arg)) refuse(['run', 'args'], `"${run.definition}" has no input "${arg}"`);
}

/** Of every verb. */
const OPTIONS = ['json', 'as', 'help'];

/** A system, or one with what the project lets it do and sets. */
const Entry = z.strictObject({
  system: OwnSystem,
  may: z.array(Permission).default([...MAY]),
  settings: z.unknown().optional(),
  queues: z.record(z.string(), Queue.partial()).default({}),
});

export const ProjectSystem = z.unknown().transform((given, { issues, value }) => {
  const isEntry = typeof given === 'object' && given !== null && 'system' in given;
  const read = Entry.safeParse(isEntry ? given : { system: given });
  if (!read.success) {
    for (const { path, message } of read.error.issues)
      issues.push({ code: 'custom', input: value, path: isEntry ? path : path.slice(1), message });
    return z.NEVER;
  }
  const { system, settings: set, may, queues: otherwise } = read.data;
  const strange = Object.keys(otherwise).find((queue) => !Object.hasOwn(system.queues, queue));
  if (strange !== undefined) {
    const message = `the system "${system.name}" has no queue "${strange}"; it has ${Object.keys(system.queues).join(', ') || 'none'}`;
    issues.push({ code: 'custom', input: value, path: ['queues', strange], message });
    return z.NEVER;
  }
  const settings = system.settings?.safeParse(set ?? {});
  if (settings?.success === false) {
    for (const { path, message } of settings.error.issues)
      issues.push({
        code: 'custom',
        input: value,
        path: ['settings', ...path],
        message: `${message} (the settings of "${system.name}")`,
      });
    return z.NEVER;
  }
  if (settings === undefined && set !== undefined) {
    issues.push({
      code: 'custom',
      input: value,
      path: ['settings'],
      message: `the system "${system.name}" has no settings`,
    });
    return z.NEVER;
  }
  const commands = system.commands.map((command) => ({
    ...command,
    failures: { ...system.failures, ...command.failures },
  }));
  const queues = Object.fromEntries(
    Object.entries(system.queues).map(([queue, stated]) => [queue, { ...stated, ...otherwise[queue] }]),
  );
  return { ...system, commands, queues, may, settings: settings?.data };
});
export type ProjectSystem = z.infer<typeof ProjectSystem>;
