/** Waiting, inside an activation, for what it leads to. */
import { condition } from '@temporalio/workflow';

/**
 * How often the conditions of the run are looked at. One thing that is resolved may open a gate, that
 * one another, and so on; the longest such chain there is, from the end of a segment over an edit that
 * waited for it to a rest that ends, has three.
 */
const looksForHandlers = 5;

/** Rejects when its scope is cancelled. Nothing of it is in the run's history. */
export async function settleActivation(looks = looksForHandlers): Promise<void> {
  // No promise is continued before all of the activation has been handed over.
  await Promise.resolve();
  for (let look = 0; look < looks; look += 1) {
    let wasAsked = false;
    await condition(() => {
      const isAskedAgain = wasAsked;
      wasAsked = true;
      return isAskedAgain;
    });
  }
}
