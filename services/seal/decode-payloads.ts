/**
 * What a codec server of Temporal does (POST /decode): opens values for the Temporal Web UI. Whoever may
 * call it reads everything, so whoever serves it asks first who is there.
 */
import type { Payload } from '@temporalio/common';
import * as z from 'zod';
import { PayloadSeal } from './payload-seal.ts';
import type { SealKeys } from '../config/seal-key.ts';

const Body = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), z.string()).optional(), data: z.string().optional() })),
});
export type PayloadsBody = z.infer<typeof Body>;

/** Null where the body is not one of payloads. What cannot be opened is handed back as it is. */
export async function decodePayloads(keys: SealKeys, body: unknown): Promise<PayloadsBody | null> {
  const read = Body.safeParse(body);
  if (!read.success) return null;
  const opened = await PayloadSeal.viewer(keys).decode(read.data.payloads.map(fromWritten));
  return { payloads: opened.map(toWritten) };
}

type Written = PayloadsBody['payloads'][number];

const fromWritten = ({ metadata = {}, data = '' }: Written): Payload => ({
  metadata: mapped(metadata, (value) => Buffer.from(value, 'base64')),
  data: Buffer.from(data, 'base64'),
});

const toWritten = ({ metadata, data }: Payload): Written => ({
  metadata: mapped(metadata ?? {}, (value) => Buffer.from(value).toString('base64')),
  data: Buffer.from(data ?? []).toString('base64'),
});

const mapped = <From, To>(fields: { [name: string]: From }, of: (value: From) => To): { [name: string]: To } =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, of(value)]));
