/**
 * How the listener for webhooks shows that it is ours: to whoever asks for it with a number used once it answers
 * with a digest that takes the secret and the installation's id. Another installation, and whoever else holds the
 * port, cannot make one, and what was overheard is of no use for the next number.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const HEALTH_PATH = '/health';

/** A number used once, in hexadecimal digits. */
export const isNonce = (text: string): boolean => /^[0-9a-f]{32,64}$/.test(text);

/** The key is made of the secret, so that no proof is ever the signature of a message. */
export function proofOf(secret: string, installation: string, nonce: string): string {
  const key = createHmac('sha256', secret).update('sentinel webhook listener').digest();
  return createHmac('sha256', key).update(`${installation}\n${nonce}`).digest('hex');
}

/** The first of them makes the proof; whoever looks may know a few of them only. */
export const provingSecrets = (
  common: readonly string[],
  sources: readonly { secrets: readonly string[] }[],
): readonly string[] => [...common, ...sources.flatMap(({ secrets }) => secrets)];

export function isProof(given: unknown, secrets: readonly string[], installation: string, nonce: string): boolean {
  if (typeof given !== 'string') return false;
  return secrets.some((secret) => {
    const [one, other] = [Buffer.from(given), Buffer.from(proofOf(secret, installation, nonce))];
    return one.length === other.length && timingSafeEqual(one, other);
  });
}
