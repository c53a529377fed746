/**
 * For whom a verb acts and in whose name it speaks, decided once: who is named on the command line, then the owner that
 * the definition names, then `defaults.persona` of the project, then the user. A process of a step speaks as a step,
 * whoever it names (client/rights/within-step.ts).
 */
import { Option } from 'commander';
import { personaFault, personaIdFor } from '../../language/persona-id.ts';
import { isWithinStep } from '../../client/rights/within-step.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import type { Output } from '../output/output.ts';
import { projectDefaults } from './project-config.ts';
import { usage } from './usage.ts';

export interface Named {
  /** On the command line. */
  said: string | undefined;
  /** By the definition that is run. */
  owner?: string | undefined;
  /** Of the project; null where it has none. */
  config: Pick<ProjectConfig, 'defaults'> | null;
}

export const speakerOf = ({ said, owner, config }: Named): string =>
  said ?? owner ?? config?.defaults.persona ?? userName();

/** Of a verb that knows nothing else of the project; without one it is the folder one is in. */
export async function speakerHere(
  said: string | undefined,
  output: Output,
  project: string = process.cwd(),
): Promise<string> {
  if (said !== undefined || (await isWithinStep())) return speakerOf({ said, config: null });
  return speakerOf({ said, config: { defaults: await projectDefaults(project, output) } });
}

/** Who uses this machine: what is trusted on it is trusted in this name, whatever a project says. */
export const userName = (): string => personaIdFor(process.env['USER'] ?? '') ?? 'local';

/** Who it is where nobody is named, for the help. */
export const SPEAKER_DEFAULT = 'the default persona of sentinel.config, then the user';

/** `--by <persona>` and `--persona <id>`. */
export const speakerOption = (flags: string, description: string): Option =>
  personaOption(flags, `${description} (default: ${SPEAKER_DEFAULT})`);

/** Where nobody is meant if nobody is named. */
export const personaOption = (flags: string, description: string): Option =>
  new Option(flags, description).argParser((name: string) => {
    const fault = personaFault(name);
    if (fault === null) return name;
    throw usage(`${flags.split(' ', 1)[0] ?? flags}: ${fault.message}.`);
  });
