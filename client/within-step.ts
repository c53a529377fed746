/** Consent is a person's: a process that a run started is refused. */
import { ClientError } from '../runs/client-error.ts';

export async function refuseWithinStep(message: string): Promise<void> {
  const { isWithinStep } = await import('../activities/shell/process/step-mark.ts');
  if (await isWithinStep()) throw new ClientError('ANSWER_REFUSED', message);
}
