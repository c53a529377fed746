/** What `commands` of a `sentinel.config` may say, each refusal in words that name the field. */
import * as z from 'zod';
import type { CommandContext } from './define-command.ts';

/** Quick steps share an activity, which others wait for. */
export const QUICK_MS_MAX = 5_000;
const timeoutMsMax = 30 * 24 * 3600 * 1000;
/** Runs that a command starts each time. */
const startsMax = 100;

export const isSchema = (value: unknown): value is z.ZodType =>
  typeof value === 'object' && value !== null && '_zod' in value;
const Schema = z.custom<z.ZodType>(isSchema, {
  error: ({ input }) =>
    input === undefined
      ? 'is missing; it is a schema of zod 4, which "z" of sentinel-engine/commands makes'
      : 'must be a schema of zod 4; "z" of sentinel-engine/commands makes one',
});

/** Its parameters as models are told of them; throws where zod cannot say. */
export const parametersOf = (params: z.ZodType): Record<string, unknown> =>
  z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' });
export const resultOf = (result: z.ZodType): Record<string, unknown> =>
  z.toJSONSchema(result, { unrepresentable: 'any' });

function takesObject(params: z.ZodType): boolean {
  try {
    const { type, anyOf, oneOf } = parametersOf(params);
    const forms = anyOf ?? oneOf;
    return (
      type === 'object' || (Array.isArray(forms) && forms.every((form: { type?: string }) => form.type === 'object'))
    );
  } catch {
    return false;
  }
}

const Title = z.string().min(1).max(200);
export const Failures = z
  .record(z.string(), z.union([Title, z.strictObject({ title: Title, retryable: z.boolean() })]))
  .superRefine((failures, context) => {
    for (const code of Object.keys(failures))
      if (!/^[A-Z][A-Z0-9_]{1,63}$/.test(code))
        context.addIssue({ code: 'custom', path: [code], message: 'a code has capitals, digits and _' });
  });

type Run = (params: unknown, context: CommandContext) => unknown;

const Fields = z.strictObject({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/,
      'a command is named by letters, digits, _ and -, in parts with / between them',
    ),
  description: z.string().min(1).optional(),
  permission: z.enum(['read', 'write', 'shell', 'delete', 'network']),
  speed: z.enum(['quick', 'long']).default('long'),
  timeoutMs: z.number().int().min(1).max(timeoutMsMax).optional(),
  textField: z.string().min(1).optional(),
  uses: z
    .strictObject({
      runs: z.number().int().min(1).max(startsMax).optional(),
      models: z.literal(true).optional(),
      edits: z.literal(true).optional(),
    })
    .optional(),
  doors: z
    .array(z.enum(['step', 'model', 'person', 'agent', 'follower', 'background']))
    .min(1)
    .optional(),
  queue: z.string().optional(),
  failures: Failures.optional(),
  predict: z
    .custom<(params: unknown) => unknown>((value) => typeof value === 'function', 'must be a function')
    .optional(),
  params: Schema.refine(
    (params) => !isSchema(params) || takesObject(params),
    'must be the schema of an object, because a step gives parameters by name',
  ),
  result: Schema,
  run: z.custom<Run>((value) => typeof value === 'function', {
    error: ({ input }) => (input === undefined ? 'is missing; it is the function to run' : 'must be a function'),
  }),
});

/** What a command does with runs and models has the permission that the step would need which does it. */
const USES = { runs: 'shell', edits: 'write' } as const;

function usesRule({ speed, permission, uses = {} }: Stated, context: z.core.$RefinementCtx): void {
  const stated = Object.entries(uses).flatMap(([use, value]) => (value === undefined ? [] : [use]));
  const refuse = (path: string[], message: string): void => {
    context.addIssue({ code: 'custom', path: ['uses', ...path], message });
  };
  if (stated.length > 0 && speed === 'quick') refuse([], 'is for commands that take long; make it "long"');
  if (stated.length > 0 && permission === 'read') refuse([], 'is for commands that do more than read');
  for (const [use, needed] of Object.entries(USES))
    if (stated.includes(use) && permission !== needed)
      refuse([use], `needs the permission "${needed}", and this command has "${permission}"`);
}

interface Stated {
  uses?: { [use: string]: unknown } | undefined;
  speed: 'quick' | 'long';
  permission: string;
  timeoutMs?: number | undefined;
  queue?: string | undefined;
}

/** `permissions`: with which a command may be quick. */
const quickRule =
  (permissions: readonly string[]) =>
  ({ speed, permission, timeoutMs = 0, queue }: Stated, context: z.core.$RefinementCtx): void => {
    if (speed !== 'quick') return;
    if (queue !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['queue'],
        message: 'a quick command is performed together with the steps around it, and has no queue; make it "long"',
      });
    if (!permissions.includes(permission))
      context.addIssue({
        code: 'custom',
        path: ['speed'],
        message: `only a command with the permission ${permissions.map((one) => `"${one}"`).join(' or ')} can be quick, and this one has "${permission}"`,
      });
    if (timeoutMs > QUICK_MS_MAX)
      context.addIssue({
        code: 'custom',
        path: ['timeoutMs'],
        message: `a quick command takes at most ${QUICK_MS_MAX} ms; make it "long"`,
      });
  };

export const OwnCommand = Fields.superRefine(quickRule(['read']))
  .superRefine(usesRule)
  .refine(({ queue }) => queue === undefined, {
    path: ['queue'],
    message: 'a command has a queue where its system states it in "queues"; put the command into a system',
  });
/** A command of a system writes its tables within the transaction of its step. */
export const SystemCommand = Fields.superRefine(quickRule(['read', 'write'])).superRefine(usesRule);
export type OwnCommand = z.infer<typeof OwnCommand>;
