/** A client for the length of one verb, as its kind allows; says on stderr what is going on while services start. */
import { OpenClient } from '../../client/open-client.ts';
import type { Environment } from '../../services/config/config.ts';
import type { Output } from '../output/output.ts';
import { openSpinner, type Spinning } from '../output/spinner.ts';
import { declaredKind } from './verb-kind.ts';

export async function withClient<Result>(
  output: Output,
  use: (client: OpenClient) => Promise<Result>,
  env: Environment = process.env,
): Promise<Result> {
  const progress = new Progress(output);
  const client = new OpenClient({
    env,
    onProgress: (text) => progress.say(text),
    startsServices: declaredKind() === 'acts',
  });
  try {
    return await use(client);
  } finally {
    progress.end();
    await client.close();
  }
}

/** A spinner on a terminal, lines elsewhere. */
export class Progress {
  readonly #output: Output;
  #spinner: Promise<Spinning> | undefined;
  #ended = false;

  constructor(output: Output) {
    this.#output = output;
  }

  say(text: string): void {
    if (this.#ended) return;
    if (!this.#output.isTerminal || !process.stderr.isTTY) this.#output.note(`sentinel: ${text}`);
    else void this.#spin(text);
  }

  end(): void {
    this.#ended = true;
    void this.#spinner?.then((spinner) => spinner.stop());
  }

  async #spin(text: string): Promise<void> {
    this.#spinner ??= openSpinner(text);
    const spinner = await this.#spinner;
    if (!this.#ended) spinner.say(text);
  }
}
