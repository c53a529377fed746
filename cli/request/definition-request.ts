/** Shared by verbs like `run`: reads a definition by file or name, shows its problems, and reads inputs and options of its runs. */
import { Option, type Command } from 'commander';
import type { JsonObject } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import type { Policy } from '../../language/policy/policy.ts';
import { hasErrors } from '../../language/problems.ts';
import type { OpenClient } from '../../client/open-client.ts';
import type { Known } from '../../world/definitions/definition-files.ts';
import type { Output } from '../output/output.ts';
import { projectConfig } from './project-config.ts';
import { policyGiven, policyOption } from './policy-file.ts';
import { fitInputs, projectFolder, readInputs } from './run-request.ts';
import { speakerOf, speakerOption } from './speaker.ts';
import { problemLines } from '../../client/show/problem-lines.ts';
import { inputOption } from './usage.ts';

export interface RequestOptions {
  json?: boolean;
  project: string;
  input: string[];
  inputFile?: string;
  persona?: string;
  host?: string;
  policy?: string;
}

export interface DefinitionRequest {
  definition: Definition;
  known: Known;
  inputs: JsonObject;
  project: string;
  persona: string;
  host: string | undefined;
  policies: readonly Policy[];
}

export function requestOptions(command: Command): Command {
  return command
    .argument('<definition>', 'the file of a definition, or its name')
    .addOption(new Option('--project <dir>', 'the folder the runs work in').default('.'))
    .addOption(inputOption())
    .option('--input-file <file>', 'inputs as a JSON object')
    .addOption(speakerOption('--persona <id>', 'owner of the runs'))
    .option('--host <name>', 'run on the workers of this host: the task queue sentinel@NAME')
    .addOption(policyOption('rules about the actions of its runs'));
}

/** Null if the definition has errors; they have been shown, and nothing was started or stored. */
export async function readRequest(
  given: string,
  options: RequestOptions,
  client: OpenClient,
  output: Output,
): Promise<DefinitionRequest | null> {
  const project = projectFolder(options.project);
  const read = readInputs(options.inputFile, options.input);
  const { policy } = policyGiven(options.policy);
  const { config, commands } = await projectConfig(project, output);
  const { findDefinition } = await import('../../client/find-definition.ts');
  const {
    definition,
    problems,
    known,
    notices,
    persona: owner,
  } = await findDefinition(
    given,
    project,
    commands,
    client.definitionsFor({ persona: speakerOf({ said: options.persona, config }), project }),
  );
  for (const notice of notices) output.note(`sentinel: ${notice}`);
  for (const line of problemLines(problems, output.paint)) output.note(line);
  if (definition === null || hasErrors(problems)) {
    const message = `${given} has problems; nothing was started.`;
    output.object({ ok: false, error: { code: 'DEFINITION_INVALID', message }, problems });
    output.note(`sentinel: ${message}`);
    return null;
  }
  const persona = speakerOf({ said: options.persona, owner, config });
  const inputs = await fitInputs(definition, known, { inputs: read, assignments: options.input, note: output.note });
  const policies = policy === undefined ? [] : [policy];
  return { definition, known, inputs, project, persona, host: options.host ?? config?.defaults.host, policies };
}
