/** What of `sentinel.config` says who may send webhooks: a source has a name, the kind of its sender, and a secret. */
import * as z from 'zod';

export const WEBHOOK_KINDS = ['github', 'gitlab', 'stripe', 'slack', 'standard', 'token'] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

export const SECRET_LENGTH_MIN = 16;
const SECRETS_MAX = 10;
/** What events of our own begin with. */
const TAKEN: ReadonlySet<string> = new Set(['chat', 'file', 'git', 'sentinel']);

/** With which the events of a source begin. */
export const SourceName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'a source is named by 1 to 40 small letters, digits and -, a letter first')
  .refine((name) => !TAKEN.has(name), 'chat, file, git and sentinel begin the names of events of our own');

const text = z.string().min(1);
const Variable = z.string().regex(/^[A-Za-z_]\w*$/, 'is the name of an environment variable');

const Source = z.strictObject({
  kind: z.enum(WEBHOOK_KINDS).optional(),
  /** Several are valid side by side, so that one can be replaced without a gap. */
  secret: z
    .union(
      [
        text,
        z.array(text).min(1).max(SECRETS_MAX),
        z.strictObject({ env: z.union([Variable, z.array(Variable).min(1).max(SECRETS_MAX)]) }),
      ],
      { error: 'must be { env: "VARIABLE" }, { env: ["NEW", "OLD"] }, a text, or a list of texts' },
    )
    .optional(),
});

export const WebhooksConfig = z.record(SourceName, Source).superRefine((sources, context) => {
  for (const [name, { kind }] of Object.entries(sources))
    if (kind === undefined && !isKind(name))
      context.addIssue({
        code: 'custom',
        path: [name, 'kind'],
        message: `says who sends: one of ${WEBHOOK_KINDS.join(', ')}`,
      });
});
export type WebhooksConfig = z.infer<typeof WebhooksConfig>;

export interface WebhookSource {
  name: string;
  kind: WebhookKind;
  secrets: readonly string[];
  /** The variables that its secret is read from; none where the configuration holds it. */
  variables: readonly string[];
  /** Why it receives nothing, and what to do; null where it does. */
  fault: string | null;
}

/** The sources of a project, by name, with their secrets as the environment has them. */
export function webhookSources(
  config: WebhooksConfig,
  env: Readonly<Record<string, string | undefined>>,
): WebhookSource[] {
  return Object.entries(config).map(([name, { kind, secret }]) => {
    const sender = kind ?? (isKind(name) ? name : undefined);
    if (sender === undefined) throw new Error(`bug: the source ${name} has no kind`);
    const variables = typeof secret === 'object' && 'env' in secret ? [secret.env].flat() : [];
    const given = typeof secret === 'object' && 'env' in secret ? variables.map((each) => env[each]) : [secret].flat();
    const secrets = given.flatMap((each) => (each === undefined || each.trim() === '' ? [] : [each.trim()]));
    return { name, kind: sender, secrets, variables, fault: secretFault(sender, secrets, variables) };
  });
}

function secretFault(kind: WebhookKind, secrets: readonly string[], variables: readonly string[]): string | null {
  const [variable] = variables;
  if (secrets.length === 0)
    return variable === undefined
      ? 'it has no secret; set the variable that "secret" reads where the worker starts'
      : `${variable} is not set where the worker starts; set it to the secret, and run "sentinel up"`;
  if (secrets.some(({ length }) => length < SECRET_LENGTH_MIN))
    return `its secret has fewer than ${SECRET_LENGTH_MIN} characters; use a longer one`;
  if (kind === 'standard' && secrets.some((secret) => !isStandardSecret(secret)))
    return 'its secret is not of the form whsec_BASE64; copy it from the sender as it is';
  return null;
}

/** A key in base64 behind its prefix, as Standard Webhooks have it. */
export const isStandardSecret = (secret: string): boolean =>
  /^(?:whsec_)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(secret);

const isKind = (name: string): name is WebhookKind => (WEBHOOK_KINDS as readonly string[]).includes(name);
