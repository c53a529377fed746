/** What the walk asks of local activities that change nothing: digests, and definitions that stand in variables. */
import { CancellationScope } from '@temporalio/workflow';
import { DIGEST, READ_DEFINITION, READ_STARTED, RESOLVE_ACTION } from '../../interpreter/contract.ts';
import type { GivenDefinition, ReadDefinition } from '../../language/read/nested-definition.ts';
import type { Handed, StartedProgram } from '../../language/read/started-program.ts';
import type { CommandEffect } from '../../interpreter/effect.ts';
import { KeepingNoLines, type Resolved } from '../../interpreter/host.ts';
import { digestOptions, segmentOptions, stepOptions } from './activity-options.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import { askLocally } from '../replay-order/local-activity.ts';

export abstract class LocalAnswers extends KeepingNoLines {
  abstract readonly walk: Walk;

  /** A branch that is cancelled meanwhile ends when it comes to ask. */
  digest(text: string, about: string): Promise<string> {
    return CancellationScope.nonCancellable(() => askLocally<string>(this.walk, DIGEST, [text], digestOptions(about)));
  }

  /** A run that is cancelled meanwhile ends when it comes to ask. */
  readStarted(key: string, handed: Handed): Promise<StartedProgram> {
    const options = { ...segmentOptions(key), summary: `${key} reads what it would start` };
    return CancellationScope.nonCancellable(() =>
      askLocally<StartedProgram>(this.walk, READ_STARTED, [handed], options),
    );
  }

  /** A run that is cancelled meanwhile ends when it comes to ask. */
  resolve(effect: CommandEffect): Promise<Resolved> {
    const { key, command, params } = effect;
    const options = { ...segmentOptions(key), summary: `${key} finds out what it would do` };
    return CancellationScope.nonCancellable(() =>
      askLocally<Resolved>(this.walk, RESOLVE_ACTION, [{ command, params }, ...stepOptions(effect)], options),
    );
  }

  /** A run that is cancelled meanwhile ends when the nested run is to begin. */
  readDefinition(key: string, given: GivenDefinition): Promise<ReadDefinition> {
    const options = { ...segmentOptions(key), summary: `${key} reads a definition` };
    return CancellationScope.nonCancellable(() =>
      askLocally<ReadDefinition>(this.walk, READ_DEFINITION, [given], options),
    );
  }
}
