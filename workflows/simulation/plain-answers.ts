/** What a scripted host can answer by itself, without a script. */
import { readNestedDefinition, type GivenDefinition, type ReadDefinition } from '../../language/read/nested-definition.ts';

export class PlainAnswers {
  /** A scripted run has every change of the ledger. */
  keepsAttempts = (): boolean => true;
  carriesWaits = (): boolean => true;
  drivesAsOne = (): boolean => true;

  /** Two texts have the same digest when they are the same, which is all that the walk relies on. */
  digest(text: string): Promise<string> {
    return Promise.resolve(text);
  }

  readDefinition(_key: string, given: GivenDefinition): Promise<ReadDefinition> {
    return Promise.resolve(readNestedDefinition(given));
  }
}
