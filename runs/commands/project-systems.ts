/** The systems of a project, and why one of them cannot be used: then its commands fail, and all others work. */
import { type Catalogue, failuresIn } from '../../language/catalogue.ts';
import { reservedEventFault } from '../../language/events/reserved-events.ts';
import type { BuiltIn } from './built-in.ts';
import { FAILURE_CODES } from '../../language/failure.ts';
import type { ProjectSystem } from '../../services/commands/own-systems.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';

export interface JudgedSystem {
  system: ProjectSystem;
  /** A sentence: finding and remedy. */
  problem: string | null;
}

/** The first part of the names of MCP tools. */
export const MCP = 'mcp';

/** A name says by its first part which system it is of. */
export const isOfSentinel = (family: string, builtIn: Catalogue): boolean =>
  family === MCP || Object.keys(builtIn).some((name) => name.split('/')[0] === family);

/** No system may be named like one of the engine's, or like what a command of these begins with. */
export function judgedSystems(
  { catalogue: builtIn, settings: ofEngine }: BuiltIn,
  { commands, systems }: Pick<ProjectConfig, 'commands' | 'systems'>,
): JudgedSystem[] {
  const ofProject = new Set(commands.map(({ name }) => name));
  const named = new Set<string>();
  const queues = new Map<string, string>();
  for (const { queue } of Object.values(builtIn)) if (queue !== undefined) queues.set(queue, 'of Sentinel itself');
  return systems.map((system) => {
    const problem = isOfSentinel(system.name, builtIn)
      ? `commands of Sentinel itself begin with "${system.name}/"; give the system another name`
      : Object.hasOwn(ofEngine, system.name)
        ? `a system "${system.name}" comes with Sentinel; give the system another name`
        : named.has(system.name)
          ? 'there is another system of that name; name one of them otherwise'
          : (clashing(system, ofProject) ??
            notGranted(system) ??
            codeOfEngine(system, builtIn) ??
            reservedEvent(system) ??
            queueOfOther(system, queues));
    if (problem === null)
      for (const queue of Object.keys(system.queues)) queues.set(queue, `of the system "${system.name}"`);
    named.add(system.name);
    return { system, problem: problem === null ? null : `the system "${system.name}" cannot be used: ${problem}` };
  });
}

function clashing({ commands }: ProjectSystem, ofProject: ReadonlySet<string>): string | null {
  const found = commands.find(({ name }) => ofProject.has(name));
  return found === undefined
    ? null
    : `its command "${found.name}" stands in "commands" of the project, too; rename one of them`;
}

function notGranted({ name, commands, may }: ProjectSystem): string | null {
  // A model is reached over the network, and paid for.
  const needed = commands.flatMap(({ name: of, permission, uses }) => [
    { of, permission },
    ...(uses?.models === true ? [{ of, permission: 'network' as const }] : []),
  ]);
  const found = needed.find(({ permission }) => !may.includes(permission));
  return found === undefined
    ? null
    : `its command "${found.of}" needs the permission "${found.permission}", and the configuration grants ${may.join(', ')}; write { system: …, may: [${[...may, found.permission].map((one) => `"${one}"`).join(', ')}] } in "systems", or leave "${name}" out`;
}

export function engineCode(failures: object, builtIn: Catalogue): string | undefined {
  const taken = { ...FAILURE_CODES, ...failuresIn(builtIn) };
  return Object.keys(failures).find((one) => Object.hasOwn(taken, one));
}

function codeOfEngine({ failures, commands }: ProjectSystem, builtIn: Catalogue): string | null {
  const stated = Object.assign({}, failures, ...commands.map((command) => command.failures)) as object;
  const code = engineCode(stated, builtIn);
  return code === undefined ? null : `the failure "${code}" is one of Sentinel's; give it another code`;
}

/** `taken`: by which system. */
function queueOfOther({ queues }: ProjectSystem, taken: ReadonlyMap<string, string>): string | null {
  const queue = Object.keys(queues).find((one) => taken.has(one));
  return queue === undefined
    ? null
    : `its queue "${queue}" is one ${taken.get(queue) ?? ''}, too; give it another name`;
}

function reservedEvent({ events }: ProjectSystem): string | null {
  const event = Object.keys(events).find((name) => reservedEventFault(name) !== null);
  return event === undefined ? null : `events named like "${event}" say where they are from; name it otherwise`;
}
