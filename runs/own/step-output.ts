/** What the process of a command prints: into the step's log, masked, and its end for a failure. */
import { setImmediate as turn } from 'node:timers/promises';
import { noSecrets } from '../../operations/secrets/secrets.ts';
import type { CommandContext } from '../../operations/command.ts';
import { Capture } from '../../operations/shell/output/capture.ts';
import { StepLog, type StreamName } from '../../operations/shell/output/step-log.ts';
import { StreamMask } from '../../operations/shell/output/stream-mask.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';

export class StepOutput {
  readonly #masks: Record<StreamName, StreamMask>;
  readonly #label: { handle: string; key: string; attempt: number };
  readonly #logs: CommandContext['store']['logs'];
  readonly #end = new Capture(SHELL_BOUNDS.failureTailBytes);
  #log: StepLog | null = null;
  #bytes = 0;

  constructor({ run, key, attempt, store, secrets = noSecrets() }: CommandContext) {
    this.#masks = { stdout: new StreamMask(secrets.logs), stderr: new StreamMask(secrets.logs) };
    this.#label = { handle: run.handle, key, attempt };
    this.#logs = store.logs;
  }

  readonly write = (stream: StreamName, chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (stream === 'stderr') this.#end.write(chunk);
    this.#add(stream, this.#masks[stream].write(chunk));
  };

  /** A command that prints nothing has no log. */
  #add(stream: StreamName, masked: Buffer): void {
    if (masked.length === 0) return;
    this.#log ??= new StepLog(this.#logs, this.#label);
    this.#log.write(stream, masked);
  }

  /** What the process had printed by now lies in its pipes. */
  async drain(): Promise<void> {
    for (let before = -1; before !== this.#bytes;) {
      before = this.#bytes;
      await turn();
      await turn();
    }
  }

  get stderr(): string {
    return this.#end.end(SHELL_BOUNDS.failureTailBytes);
  }

  async finish(giveUpMs: number): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) this.#add(stream, this.#masks[stream].end());
    await this.#log?.finish(giveUpMs);
  }
}
