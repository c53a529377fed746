/** What is going on, on a terminal: a line on stderr that moves and goes. */
import { shortened } from '../../language/events/preview.ts';
import { visible } from '../../language/events/visible.ts';

export interface Spinning {
  say(text: string): void;
  stop(): void;
}

/** Characters of a line beside the spinner itself. */
export const spinnerWidth = (): number => Math.max(20, (process.stderr.columns || 80) - 4);

export async function openSpinner(text: string): Promise<Spinning> {
  const { default: yoctoSpinner } = await import('yocto-spinner');
  const spinner = yoctoSpinner({ stream: process.stderr, handleSignals: false, text: spun(text) }).start();
  return {
    say(next) {
      spinner.text = spun(next);
    },
    stop() {
      spinner.stop();
    },
  };
}

export function spun(text: string, width = spinnerWidth()): string {
  return shortened(visible(text.replaceAll(/\s+/g, ' ')), width);
}
