/**
 * The token with which a workflow task is answered, as the server gives it to whoever polls. The worker's core keeps
 * its own to itself, so that of a task whose worker has ended is written anew: the fields of the server's
 * `temporal.server.api.token.v1.Task`. The server compares all of them with the task that is under way, and refuses a
 * token that names another start of it, or is written in another way than its own.
 */

export interface StartedTask {
  namespaceId: string;
  workflowId: string;
  runId: string;
  scheduledEventId: bigint;
  startedEventId: bigint;
  attempt: number;
  /** Of the namespace, as its events carry it. */
  version: bigint;
}

const VARINT = 0;
const BYTES = 2;

export function taskTokenOf(task: StartedTask): Uint8Array {
  return Buffer.concat([
    text(1, task.namespaceId),
    text(2, task.workflowId),
    text(3, task.runId),
    number(4, task.scheduledEventId),
    number(5, BigInt(task.attempt)),
    number(10, task.startedEventId),
    number(11, task.version),
  ]);
}

function text(field: number, value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([varint(BigInt((field << 3) | BYTES)), varint(BigInt(bytes.length)), bytes]);
}

const number = (field: number, value: bigint): Buffer =>
  Buffer.concat([varint(BigInt((field << 3) | VARINT)), varint(value)]);

/** Negative ones in ten bytes, as protobuf has them. */
function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}
