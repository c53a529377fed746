/** A workflow whose answer to a query comes with a command, which the worker core takes for an error of the SDK. */
import { condition, defineQuery, setHandler, sleep } from '@temporalio/workflow';

export async function sentinel(): Promise<void> {
  setHandler(defineQuery('status'), () => {
    void sleep(1000);
    return 'answered';
  });
  await condition(() => false);
}
