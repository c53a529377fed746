/** What training and layers fail with, and the trainer's own codes in these. */
import type { Json, JsonObject } from '../../language/json.ts';
import { Failure } from '../../world/failures/failures.ts';

const lasting = (title: string) => ({ title, retryable: false });

/** Of every command that starts the trainer. */
export const TRAINER_FAILURES = {
  TRAINER_NOT_INSTALLED: lasting('The trainer is not installed'),
  TRAINER_FAILED: 'The trainer ended without a result',
  TRAINING_PLAN_INVALID: lasting('A setting of a training has a wrong value'),
  TRAINING_DATA_REFUSED: lasting('The rows of a training cannot be used'),
  TRAINING_BASE_UNUSABLE: lasting('The model of a training cannot be used'),
  TRAINING_DIVERGED: lasting('The loss of a training is no number'),
  TRAINING_NO_SPACE: 'The disk is full',
  TRAINING_TAKEN: 'Another step has taken the training over',
} as const;

export const GATE_FAILURES = { GATE_REFUSED: lasting('An adapter has not passed its gate') } as const;
export const LAYER_FAILURES = { LAYER_UNKNOWN: lasting('There is no such layer or adapter') } as const;
export const NAME_FAILURES = { LAYER_NAME_TAKEN: lasting('Another project has a layer of that name') } as const;
export const BASE_FAILURES = {
  LAYER_BASE_MISSING: lasting('The model that layers were made for is not on this machine'),
} as const;
export const COMPOSITION_FAILURES = { LAYERS_UNFIT: lasting('Layers cannot be composed') } as const;

type Make = (message: string, options: { details: JsonObject }) => Failure;

const plan: Make = (message, options) => new Failure('TRAINING_PLAN_INVALID', message, options);
const data: Make = (message, options) => new Failure('TRAINING_DATA_REFUSED', message, options);
const base: Make = (message, options) => new Failure('TRAINING_BASE_UNUSABLE', message, options);
const diverged: Make = (message, options) => new Failure('TRAINING_DIVERGED', message, options);
const space: Make = (message, options) => new Failure('TRAINING_NO_SPACE', message, { ...options, retryable: true });
const takenOver: Make = (message, options) => new Failure('TRAINING_TAKEN', message, { ...options, retryable: true });
const unknown: Make = (message, options) => new Failure('TRAINER_FAILED', message, { ...options, retryable: true });

/** By the code of the trainer (docs/trainer.md). */
const MAKERS = new Map<string, Make>([
  ['PLAN_INVALID', plan],
  ['RESUME_DIFFERS', plan],
  ['DATA_MISSING', data],
  ['DATA_EMPTY', data],
  ['DATA_TOO_LARGE', data],
  ['ROW_INVALID', data],
  ['ROW_TOO_LONG', data],
  ['ROW_HELD_OUT', data],
  ['ROWS_CONTRADICT', data],
  ['SECRET_IN_ROW', data],
  ['BASE_MISSING', base],
  ['BASE_UNSUPPORTED', base],
  ['BASE_DIFFERS', base],
  ['TEMPLATE_UNFIT', base],
  ['ADAPTER_MISSING', base],
  ['ADAPTER_UNSUPPORTED', base],
  ['QUANTIZATION_UNAVAILABLE', base],
  ['LOSS_NOT_FINITE', diverged],
  ['NO_SPACE', space],
  ['OUT_TAKEN', takenOver],
  ['LEASE_LOST', takenOver],
]);

/** Its last line, as a failure of the step: the message names the row or the reason. */
export function failureOf({ event: _event, message, ...facts }: JsonObject): Failure {
  const { code } = facts;
  const make = (typeof code === 'string' ? MAKERS.get(code) : undefined) ?? unknown;
  return make(withoutEnd(message), { details: facts });
}

const withoutEnd = (sentence: Json | undefined): string =>
  typeof sentence === 'string' ? sentence.replace(/\.$/, '') : 'it did not say why';

export const notInstalled = (): Failure =>
  new Failure(
    'TRAINER_NOT_INSTALLED',
    'the trainer is not installed on this machine; "sentinel trainer install" installs it',
  );

export const taken = ({ message }: JsonObject): Failure =>
  new Failure(
    'TRAINING_TAKEN',
    `another step trains the same in its place (${withoutEnd(message)}); its adapter is there when it has ended`,
    {
      retryable: true,
    },
  );

export const unknownLayer = (name: string): Failure =>
  new Failure(
    'LAYER_UNKNOWN',
    `there is no layer and no adapter "${name}"; "genome/layer-list" shows the layers, and "genome/train" says the id of an adapter`,
  );

export const noLayer = (id: string): Failure =>
  new Failure(
    'LAYER_UNKNOWN',
    `the adapter ${id} is no layer; "genome/layer-register" makes it one, if it passes its gate`,
  );
