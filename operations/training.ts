/** What a worker trains with. */

export interface Trainer {
  /** Its Python, in an environment of its own. */
  python: string;
  /** What it is started with, beside what every process of a step has. */
  env: { [name: string]: string };
}

export interface BaseAt {
  /** Where relative paths start. */
  project: string;
  /** A model chose the name, which then means no file. */
  byModel: boolean;
  signal: AbortSignal;
}

export interface Training {
  /** For data, trainings and adapters of this installation; made where it is not there. */
  folder(): string;
  /** Null where the trainer has not been installed. */
  trainer(): Trainer | null;
  /** The GGUF file, or the folder with safetensors, that a text names as steps name models; or what is wrong with it. */
  base(asked: string, at: BaseAt): Promise<{ path: string; name: string } | { fault: string }>;
}

const here = (): never => {
  throw new Error('bug: nobody trains in this process');
};

/** Of a process that only looks. */
export const noTraining: Training = { folder: here, trainer: () => null, base: here };
