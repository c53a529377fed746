/**
 * Which system calls a sandboxed process has: a filter of seccomp(2), as the `struct sock_filter` that bwrap hands to
 * the kernel. All are there but for what reaches out of a sandbox although it needs no capability:
 *
 * - C1 No file gets the setuid or setgid bit, since it would stay in the project as a program that gives whoever runs
 *      it the rights of the worker's user. (`mkdir` gives neither.)
 * - C2 What belongs to no namespace is not there: the worker's keyrings, the kernel's log, samples of other processes
 *      (`perf_event_open`, on hosts that allow it), and sockets beside the network (`AF_VSOCK` leads to the hypervisor).
 * - C3 What tells its arguments where no filter sees them is not there (`openat2`, `io_uring`, `socketcall`), nor is
 *      what kernels learn later; programs know from older kernels how to do without.
 * - C4 Under a worker of root there are no new user namespaces: before Linux 5.12 one gives a file capabilities that
 *      count outside. For others they stay, since browsers and builds hold their own processes in with them.
 *
 * Programs of 32 bits have the same filter on x86. Those of an ABI without a table here find no call at all.
 */
import { constants, endianness } from 'node:os';

/** Numbers of calls; those that an ABI lacks are absent. */
type Calls = Partial<Record<Exclude<keyof typeof x64, 'arch'> | 'socketcall', number>> & { arch: number };

/** From the kernel's `arch/x86/entry/syscalls/syscall_64.tbl`; `arch` from `linux/audit.h`. */
const x64 = {
  arch: 0xc000003e,
  chmod: 90,
  fchmod: 91,
  fchmodat: 268,
  fchmodat2: 452,
  creat: 85,
  open: 2,
  openat: 257,
  openat2: 437,
  mknod: 133,
  mknodat: 259,
  io_uring_setup: 425,
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  perf_event_open: 298,
  syslog: 103,
  socket: 41,
  clone: 56,
  clone3: 435,
  unshare: 272,
};

/** `syscall_32.tbl`. */
const i386: Calls = {
  arch: 0x40000003,
  chmod: 15,
  fchmod: 94,
  fchmodat: 306,
  fchmodat2: 452,
  creat: 8,
  open: 5,
  openat: 295,
  openat2: 437,
  mknod: 14,
  mknodat: 297,
  io_uring_setup: 425,
  add_key: 286,
  request_key: 287,
  keyctl: 288,
  perf_event_open: 336,
  syslog: 103,
  socket: 359,
  socketcall: 102,
  clone: 120,
  clone3: 435,
  unshare: 310,
};

/** `include/uapi/asm-generic/unistd.h`. */
const arm64: Calls = {
  arch: 0xc00000b7,
  fchmod: 52,
  fchmodat: 53,
  fchmodat2: 452,
  openat: 56,
  openat2: 437,
  mknodat: 33,
  io_uring_setup: 425,
  add_key: 217,
  request_key: 218,
  keyctl: 219,
  perf_event_open: 241,
  syslog: 116,
  socket: 198,
  clone: 220,
  clone3: 435,
  unshare: 97,
};

const tables: Partial<Record<NodeJS.Architecture, readonly Calls[]>> = { x64: [x64, i386], arm64: [arm64] };

/** `file_setattr` of Linux 6.17, the newest that was looked at. The x32 ABI counts from 2^30. */
const NEWEST = 469;

const { EPERM, ENOSYS, EAFNOSUPPORT } = constants.errno;
const S_ISUID = 0o4000;
export const S_ISGID = 0o2000;
/** `O_CREAT`, and the bit of `O_TMPFILE` that is its own: without one of them a mode says nothing. */
const CREATES = 0o100 | 0o20000000;
const CLONE_NEWUSER = 0x10000000;
/** `AF_UNIX`, `AF_INET`, `AF_INET6`, `AF_NETLINK`, `AF_PACKET`. */
const FAMILIES = [1, 2, 10, 16, 17];

/** linux/bpf_common.h */
const LOAD = 0x20;
const [IF_EQUAL, IF_GREATER, IF_ANY_BIT] = [0x15, 0x25, 0x45];
const RETURN = 0x06;
/** linux/seccomp.h: results, and where `struct seccomp_data` has what. */
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;
const NUMBER = 0;
const ARCH = 4;
const argument = (index: number): number => 16 + 8 * index;

interface Instruction {
  code: number;
  value: number;
  /** How many instructions are left out where a condition does not hold. */
  ifFalse?: number;
}

export interface FilterRequest {
  /** Folders that belong to a group pass its name on by the setgid bit, which nothing tells from that of a program. */
  allowsSetgid: boolean;
  /** Of the worker. */
  isRoot?: boolean;
  cpu?: NodeJS.Architecture;
}

/** null where there is no table for the processor. */
export function callFilter({
  allowsSetgid,
  isRoot = process.getuid?.() === 0,
  cpu = process.arch,
}: FilterRequest): Buffer | null {
  const abis = tables[cpu];
  if (abis === undefined || endianness() !== 'LE') return null;
  const bits = allowsSetgid ? S_ISUID : S_ISUID | S_ISGID;
  return assembled([
    { code: LOAD, value: ARCH },
    ...abis.flatMap((calls) => when(IF_EQUAL, calls.arch, rules(calls, bits, isRoot))),
    refuse(ENOSYS),
  ]);
}

/** To the end: what no rule is about is allowed. */
function rules(calls: Calls, bits: number, isRoot: boolean): Instruction[] {
  const { chmod, fchmod, fchmodat, fchmodat2, creat, open, openat, mknod, mknodat } = calls;
  const { openat2, io_uring_setup, socketcall, add_key, request_key, keyctl, perf_event_open, syslog } = calls;
  const { socket, clone, clone3, unshare } = calls;
  const absent = [openat2, io_uring_setup, socketcall, add_key, request_key, keyctl, perf_event_open, syslog];
  const hasAll = (number: number | undefined, ...wanted: [index: number, bits: number][]): Instruction[] =>
    call(number, [...wanted.reduceRight((inner, [index, any]) => whenAny(index, any, inner), [refuse(EPERM)]), allow]);
  return [
    { code: LOAD, value: NUMBER },
    ...when(IF_GREATER, NEWEST, [refuse(ENOSYS)]),
    ...[...absent, ...(isRoot ? [clone3] : [])].flatMap((number) => call(number, [refuse(ENOSYS)])),
    ...[chmod, fchmod, creat, mknod].flatMap((number) => hasAll(number, [1, bits])),
    ...[fchmodat, fchmodat2, mknodat].flatMap((number) => hasAll(number, [2, bits])),
    ...hasAll(open, [1, CREATES], [2, bits]),
    ...hasAll(openat, [2, CREATES], [3, bits]),
    ...(isRoot ? [clone, unshare].flatMap((number) => hasAll(number, [0, CLONE_NEWUSER])) : []),
    ...call(socket, [
      { code: LOAD, value: argument(0) },
      ...FAMILIES.flatMap((family) => when(IF_EQUAL, family, [allow])),
      refuse(EAFNOSUPPORT),
    ]),
    allow,
  ];
}

const refuse = (error: number): Instruction => ({ code: RETURN, value: ERRNO | error });
const allow: Instruction = { code: RETURN, value: ALLOW };

/** `then` has to end each of its ways with a result, unless what follows may take any of them. */
const when = (code: number, value: number, then: readonly Instruction[]): Instruction[] => [
  { code, value, ifFalse: then.length },
  ...then,
];

const whenAny = (index: number, bits: number, then: readonly Instruction[]): Instruction[] => [
  { code: LOAD, value: argument(index) },
  ...when(IF_ANY_BIT, bits, then),
];

const call = (number: number | undefined, then: readonly Instruction[]): Instruction[] =>
  number === undefined ? [] : when(IF_EQUAL, number, then);

function assembled(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.alloc(instructions.length * 8);
  for (const [index, { code, value, ifFalse = 0 }] of instructions.entries()) {
    program.writeUInt16LE(code, index * 8);
    // Throws where a jump is longer than a byte holds.
    program.writeUInt8(ifFalse, index * 8 + 3);
    program.writeUInt32LE(value, index * 8 + 4);
  }
  return program;
}
