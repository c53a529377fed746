/** A value with its metadata in one piece of bytes. The metadata of nearly every value is that it is JSON: one byte. */
import type { Payload } from '@temporalio/common';

const JSON_ONLY = 0;
const JSON_ENCODING = 'json/plain';

/** Without a copy. A message decoded from the wire holds an empty list, whatever its type says, where its sender left the bytes out. */
export function bytesOf({ data }: Payload): Buffer {
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data ?? []);
}

export function packed(payload: Payload): Buffer {
  const entries = Object.entries(payload.metadata ?? {});
  const content = bytesOf(payload);
  const [[name, value] = ['', null]] = entries;
  if (entries.length === 1 && name === 'encoding' && Buffer.from(value ?? []).toString('latin1') === JSON_ENCODING)
    return Buffer.concat([Buffer.of(JSON_ONLY), content]);
  const parts = entries.flatMap(([of, is]) => [sized(Buffer.from(of)), sized(Buffer.from(is ?? []))]);
  return Buffer.concat([Buffer.of(1 + entries.length), ...parts, content]);
}

export function unpacked(bytes: Buffer): Payload {
  const count = (bytes[0] ?? JSON_ONLY) - 1;
  if (count < 0) return { metadata: { encoding: Buffer.from(JSON_ENCODING) }, data: bytes.subarray(1) };
  let at = 1;
  const next = (): Buffer => {
    const end = at + 2 + bytes.readUInt16BE(at);
    const part = bytes.subarray(at + 2, end);
    at = end;
    return part;
  };
  const metadata: Record<string, Uint8Array> = {};
  for (let index = 0; index < count; index += 1) {
    const name = next().toString('utf8');
    metadata[name] = next();
  }
  return { metadata, data: bytes.subarray(at) };
}

function sized(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
