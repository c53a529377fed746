/**
 * What travels to other installations: canonical JSON, signed. Whoever reads it checks, in this order, that it is whole (the
 * text is exactly the canonical one), of a version that is known, and signed; and then whether the signer is known here.
 */
import * as z from 'zod';
import { canonicalText } from '../language/canonical.ts';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import { withoutTokens } from '../language/secrets.ts';
import { Failure } from '../world/failures/failures.ts';
import { ownMasker } from '../world/own-keys/own-keys.ts';
import type { Context } from './command.ts';
import { signed, type Signer, signerOf } from './signatures.ts';

export interface DocumentKind<Payload> {
  /** What its text says that it is. */
  format: string;
  version: number;
  /** What people call it: "export of a sentinel". */
  title: string;
  payload: z.ZodType<Payload>;
}

export interface ReadDocument<Payload> {
  payload: Payload;
  signer: Signer;
}

const Signed = z.strictObject({ key: z.string(), value: z.string() });

export function documentText<Payload>({ format, version }: DocumentKind<Payload>, payload: Payload): string {
  const signature = signed(canonicalText(payload));
  return `${canonicalText({ format, version, payload, signature })}\n`;
}

/** That `place` cannot be taken for what it says that it is. */
export const invalidExport = (place: string, finding: string): Failure =>
  new Failure('EXPORT_INVALID', `${place} ${finding}`);

/** `place`: of the text, for failures. Throws `EXPORT_INVALID` and `EXPORT_VERSION`. */
export function readDocument<Payload>(
  { format, version, title, payload: shape }: DocumentKind<Payload>,
  text: string,
  place: string,
): ReadDocument<Payload> {
  const value = parsed(text);
  if (value === null || value['format'] !== format) throw invalidExport(place, `is no ${title}, or not a whole one`);
  if (value['version'] !== version)
    throw new Failure(
      'EXPORT_VERSION',
      `${place} is of version ${JSON.stringify(value['version'])} of the format, and this Sentinel reads version ${version}; export it again with the same version of Sentinel`,
    );
  if (`${canonicalText(value)}\n` !== text) throw invalidExport(place, 'was changed since it was exported');
  const document = z.strictObject({
    format: z.string(),
    version: z.number(),
    payload: shape,
    signature: Signed,
  });
  const read = document.safeParse(value);
  if (!read.success)
    throw invalidExport(place, `holds something else than an export does: ${z.prettifyError(read.error)}`);
  const { payload, signature } = read.data;
  const signer = signerOf(canonicalText(payload), signature);
  if (signer === null) throw invalidExport(place, 'was changed since it was signed');
  return { payload, signer };
}

function parsed(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Throws `EXPORT_UNTRUSTED` where nobody has said to know the key. */
export function knownSigner({ fingerprint, name }: Signer, place: string): { fingerprint: string; name: string } {
  if (name !== null) return { fingerprint, name };
  throw new Failure(
    'EXPORT_UNTRUSTED',
    `${place} is signed by a key that nobody here has said to know (${fingerprint}); a person who knows whose it is adds it with "sentinel saved trust"`,
    { details: { fingerprint } },
  );
}

/** Values and keys that this run or this process knows; no file that travels holds one. `help`: what to do. */
export function refuseSecrets(text: string, what: string, help: string, { secrets }: Context): void {
  const maskers = [ownMasker(), ...(secrets === undefined ? [] : [secrets.results, secrets.logs])];
  if (withoutTokens(text) === text && maskers.every((masker) => masker.text(text) === text)) return;
  throw new Failure('EXPORT_SECRET', `"${what}" holds a secret, and nothing was written; ${help}`);
}
