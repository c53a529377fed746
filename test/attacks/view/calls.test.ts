/** System calls that reach out of a sandbox although they need no capability. */
import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { callFilter } from '../../../world/confinement/call-filter.ts';
import { findHelper } from '../../../world/own-programs/helper-programs.ts';
import { isolation, systemMounts } from '../../../world/confinement/system-view.ts';
import { trySandbox } from '../../../world/confinement/sandbox-probe.ts';
import { temporaryFolder } from '../../activities/harness/step-context.ts';
import { hasSandbox, shell } from '../inside.ts';
import { program32 } from './program32.ts';

const isRoot = process.getuid?.() === 0;
const isX64 = process.arch === 'x64';
const bwrap = findHelper('bwrap') ?? '';
const has = (name: string): boolean => findHelper(name) !== null;
/** Not one that is installed in somebody's home. */
const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find((file) => existsSync(file));

/** What lies in a folder with one of the two bits. */
async function powerful(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const stats = await Promise.all(names.map((name) => lstat(join(folder, name))));
  return names.filter((_name, index) => ((stats[index]?.mode ?? 0) & 0o6000) !== 0);
}

const calls: Record<string, string> = {
  'chmod of u+s': 'cp /bin/sh f && chmod u+s f',
  'chmod of g+s': 'cp /bin/sh f && chmod g+s f',
  'chmod of numbers, and of a folder': 'touch f && chmod 4755 f; chmod 6777 f; mkdir d && chmod 2755 d',
  install: 'install -m 4755 /bin/sh f; install -m 2755 /bin/sh g',
  'an archive with such a file':
    'tar -chf a.tar --mode=6755 --owner=0 -C /bin sh && tar -xpf a.tar; tar -xf a.tar; cp -p sh g',
  'a copy that keeps what it has':
    'for at in /usr/bin/passwd /bin/su /usr/bin/su; do cp -p $at .; ln $at .; mv $at .; done',
};

const attempts = [
  'os.chmod("f", 0o4755)',
  'os.chmod(os.open("f", os.O_RDWR), 0o6755)',
  'os.chmod("f", 0o2755, dir_fd=folder)',
  'os.open("a", os.O_CREAT | os.O_WRONLY, 0o4755)',
  'os.open("b", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o2755, dir_fd=folder)',
  'os.mknod("c", 0o104755)',
  'os.mkdir("d", 0o6777)',
  'os.link("/proc/self/fd/%d" % os.open(".", os.O_TMPFILE | os.O_RDWR, 0o6755), "e", follow_symlinks=True)',
];

/** By number on x64: `syscall` of perl takes any. */
const numbers: Record<string, string> = {
  chmod: 'syscall(90, $f, 04755)',
  fchmod: 'syscall(91, fileno(F), 04755)',
  fchmodat: 'syscall(268, -100, $f, 02755, 0)',
  fchmodat2: 'syscall(452, -100, $f, 04755, 0)',
  'chmod with more bits than it reads': 'syscall(90, $f, 0x7fff00000000 | 04755)',
  creat: 'syscall(85, $g, 04755)',
  open: 'syscall(2, $g, 0101, 06755)',
  openat: 'syscall(257, -100, $g, 0101, 06755)',
  'openat of a file without a name':
    '($n = syscall(257, -100, $dot, 020200002, 06755)) < 0 ? $n : syscall(265, -100, $fd = "/proc/self/fd/$n", -100, $g, 0x400)',
  openat2: 'syscall(437, -100, $g, $how, 24)',
  mknod: 'syscall(133, $g, 0104755, 0)',
  mknodat: 'syscall(259, -100, $g, 0104755, 0)',
  'chmod of x32': 'syscall(0x40000000 + 90, $f, 04755)',
  'open of x32': 'syscall(0x40000000 + 2, $g, 0101, 06755)',
};

const rest: Record<string, string> = {
  io_uring_setup: 'syscall(425, 1, $room)',
  'the session keyring of the worker': 'syscall(250, 0, -3, 0)',
  'a key of it': 'syscall(248, $user, $name, $x, 1, -4)',
  'a look for one': 'syscall(249, $user, $name, 0, -4)',
  'samples of a processor': 'syscall(298, $event, -1, 0, -1, 0)',
  'the log of the kernel': 'syscall(103, 3, $room, 100)',
  'a socket to the hypervisor': 'syscall(41, 40, 1, 0)',
  'a call that no kernel has yet': 'syscall(470)',
};

/** What it gives back, and its error. Strings that are written out cannot be passed. */
const perl = (line: string): string => `touch f; perl -e 'umask 0; open F, ">>", "f";
  ($f, $g, $dot, $user, $name, $x, $room) = ("f", "g", ".", "user", "sentinel-test", "x", "\\0" x 200);
  ($how, $event) = (pack("QQQ", 0101, 06755, 0), pack("LLQx112", 1, 128, 0));
  $r = ${line}; print "$r ", $! + 0, "\\n"'`;

describe.runIf(hasSandbox)('a sandboxed step leaves no program behind that gives its rights to others', () => {
  it.each(Object.entries(calls))('%s', async (_what, command) => {
    const project = await temporaryFolder();
    await shell(project, { command: `umask 0; ${command}` });
    expect(await powerful(project)).toEqual([]);
  });

  it.runIf(python !== undefined).each(attempts)('%s', async (attempt) => {
    const project = await temporaryFolder();
    const lines = ['import os', 'os.umask(0)', 'open("f", "w")', 'folder = os.open(".", os.O_PATH)'];
    const tried = ['try:', `  ${attempt}`, 'except OSError as error: print(error.errno)', 'print("tried")'];
    await writeFile(join(project, 'try.py'), [...lines, ...tried].join('\n'));
    expect((await shell(project, { command: `${python} try.py` })).stdout).toMatch(/^(1\n)?tried\n$/);
    expect(await powerful(project)).toEqual([]);
  });

  it.runIf(isX64 && has('perl')).each(Object.entries(numbers))('%s, by number', async (_what, line) => {
    const project = await temporaryFolder();
    const { stdout } = await shell(project, { command: perl(line) });
    expect(stdout).toMatch(/^-1 (1|38)\n$/);
    expect(await powerful(project)).toEqual([]);
  });

  it.runIf(isX64)('by a program of 32 bits', async () => {
    const project = await temporaryFolder();
    await writeFile(join(project, 'f'), '');
    await writeFile(join(project, 'program'), program32('f', 0o4755), { mode: 0o755 });
    await writeFile(join(project, 'plain'), program32('f', 0o751), { mode: 0o755 });
    await shell(project, { command: './program' });
    expect(await powerful(project)).toEqual([]);
    // It runs, where the host runs such programs at all.
    const outside = await execa('./plain', { cwd: project, reject: false });
    await chmod(join(project, 'f'), 0o600);
    expect((await shell(project, { command: './plain' })).exitCode).toBe(outside.exitCode ?? 126);
    if (outside.exitCode === 0) expect((await lstat(join(project, 'f'))).mode & 0o7777).toBe(0o751);
  });
});

describe.runIf(hasSandbox && isX64 && has('perl'))('what belongs to no namespace is not there', () => {
  it.each(Object.entries(rest))('%s', async (_what, line) => {
    const { stdout } = await shell(await temporaryFolder(), { command: perl(line) });
    // ENOSYS, or EAFNOSUPPORT
    expect(stdout).toMatch(/^-1 (38|97)\n$/);
  });

  it.runIf(isRoot)('a user namespace of root', async () => {
    const { stdout } = await shell(await temporaryFolder(), {
      command: `unshare -U echo MADE; ${perl('syscall(56, 0x10000011, 0, 0, 0, 0)')}; ${perl('syscall(435, $room, 88)')}`,
    });
    expect(stdout).toBe('-1 1\n-1 38\n');
  });
});

describe.runIf(hasSandbox)('what ordinary programs do works', () => {
  it('rights, archives, queues and folders', async () => {
    const project = await temporaryFolder();
    const { stderr, exitCode } = await shell(project, {
      command: `set -e
        echo x > f; chmod +x f; chmod 755 f; chmod 600 f; chmod 1777 .; chmod a-st f
        install -m 755 f g; cp -p g h; mkdir -p a/b; mkdir -m 700 c; mkfifo queue; ln f same; ln -s f link
        tar -cf t.tar a f g; mkdir out; tar -xpf t.tar -C out; mv out other; touch -d yesterday f; cp -a other copy`,
    });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect((await lstat(join(project, 'copy/g'))).mode & 0o7777).toBe(0o755);
  });

  it('sockets, threads and processes of their own', async () => {
    const { stdout, stderr } = await shell(await temporaryFolder(), {
      command: `node -e '
        const net = require("net"), { Worker } = require("worker_threads"), { execFileSync } = require("child_process");
        const serve = (where, done) => { const s = net.createServer((c) => c.end("hi")).listen(where, () => net.connect(typeof where === "string" ? where : s.address().port).on("data", (d) => { console.log(String(d)); s.close(done); })); };
        serve("./sock", () => serve(0, () => {
          console.log(execFileSync("/bin/sh", ["-c", "echo ran"], { encoding: "utf8" }).trim());
          new Worker("require(\\"worker_threads\\").parentPort.postMessage(1)", { eval: true }).on("message", console.log);
        }));'`,
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'hi\nhi\nran\n1\n', stderr: '' });
  });

  it('git makes, commits and clones a repository', async () => {
    const { exitCode, stderr } = await shell(await temporaryFolder(), {
      command: `set -e; git init -q r; cd r; echo x > f; git add f
        git -c user.name=a -c user.email=a@b commit -qm first; cd ..; git clone -q r s; test -f s/f`,
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  it.runIf(has('npm'))('npm installs a package with a program', async () => {
    const project = await temporaryFolder();
    const { stdout, stderr } = await shell(project, {
      command: `mkdir tool; echo '{"name":"tool","version":"1.0.0","bin":"run.js"}' > tool/package.json
        printf '#!/usr/bin/env node\\nconsole.log("ran")\\n' > tool/run.js
        (cd tool && npm pack --silent >/dev/null); echo '{"dependencies":{"tool":"file:tool/tool-1.0.0.tgz"}}' > package.json
        npm install --silent --no-audit --offline && npm ci --silent --no-audit --offline && npx --offline tool`,
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'ran\n', stderr: '' });
  });

  it.runIf(python !== undefined)('python makes an environment', async () => {
    const { stdout, stderr } = await shell(await temporaryFolder(), {
      command: `${python} -m venv --without-pip v && v/bin/python -c "print(1 + 1)"`,
    });
    expect({ stdout, stderr }).toEqual({ stdout: '2\n', stderr: '' });
  });

  it("in a group's folder, rights of folders may be changed with the bit", async () => {
    const project = await temporaryFolder();
    await chmod(project, 0o2770);
    await mkdir(join(project, 'a'));
    const { stderr, exitCode } = await shell(project, {
      command: 'chmod u+w a && cp -r a b && touch f && ! chmod u+s f 2>/dev/null && git init -q --shared r',
    });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect((await lstat(join(project, 'b'))).mode & 0o2000).toBe(0o2000);
  });
});

/** What the kernel makes of a call: the error, or 0. */
function verdict(filter: Buffer, arch: number, number: number, args: number[]): number {
  const data = [number, arch, 0, 0, ...args.flatMap((value) => [value, 0])];
  let held = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const value = filter.readUInt32LE(at + 4);
    const holds: Record<number, boolean> = { 0x15: held === value, 0x25: held > value, 0x45: (held & value) !== 0 };
    const code = filter.readUInt16LE(at);
    if (code === 0x06) return value === 0x7fff0000 ? 0 : value & 0xffff;
    if (code === 0x20) held = data[value / 4] ?? 0;
    else at += 8 * filter.readUInt8(at + (holds[code] === true ? 2 : 3));
  }
  return -1;
}

describe('the filter of a processor that is not here', () => {
  const arm64 = 0xc00000b7;
  const here = -100;
  it.each([
    ['fchmod', 52, [3, 0o4755], 1, 0o755],
    ['fchmodat', 53, [here, 0, 0o2755], 1, 0o755],
    ['fchmodat2', 452, [here, 0, 0o4755, 0], 1, 0o755],
    ['openat that makes', 56, [here, 0, 0o101, 0o4755], 1, 0o644],
    ['mknodat', 33, [here, 0, 0o104755], 1, 0o100755],
    ['openat2', 437, [here, 0, 0, 24], 38, null],
    ['io_uring_setup', 425, [1, 0], 38, null],
    ['keyctl', 219, [0, here], 38, null],
    ['socket to the hypervisor', 198, [40, 1, 0], 97, null],
    ['clone of a user namespace', 220, [0x10000011], 1, null],
    ['a call that no kernel has yet', 1_000, [], 38, null],
  ])('%s', (_what, number, args, error, plain) => {
    const filter = callFilter({ allowsSetgid: false, isRoot: true, cpu: 'arm64' }) ?? Buffer.alloc(0);
    expect(verdict(filter, arm64, number, args)).toBe(error);
    expect(verdict(filter, 0x40000028, number, args)).toBe(38);
    const bits = plain === null ? [] : args.map((value) => (value > 0o1000 ? plain : value));
    if (plain !== null) expect(verdict(filter, arm64, number, bits)).toBe(0);
  });

  it('ordinary calls are there', () => {
    const filter = callFilter({ allowsSetgid: false, isRoot: true, cpu: 'arm64' }) ?? Buffer.alloc(0);
    const ordinary = [
      ['openat', 56, here, 0, 0, 0o4755],
      ['socket', 198, 2, 1, 0],
      ['clone', 220, 0x11],
      ['read', 63],
    ];
    for (const [name, number = 0, ...args] of ordinary as [string, ...number[]][])
      expect(verdict(filter, arm64, number, args), name).toBe(0);
  });

  it('there is none for one that has no table', () => {
    expect(callFilter({ allowsSetgid: false, cpu: 's390x' })).toBeNull();
  });
});

describe.runIf(hasSandbox)('a filter that does not hold is found out before a step runs', () => {
  const options = [...isolation(), ...systemMounts()];
  it('there is none', async () => {
    const { leaks } = await trySandbox(bwrap, options);
    expect(leaks).toEqual([expect.stringContaining('can make a program that runs as the user of the worker')]);
  });
  it('it is no filter', async () => {
    expect((await trySandbox(bwrap, options, { filter: Buffer.alloc(8) })).complaint).toMatch(/SECCOMP/);
  });
  it('and the usual one is taken', async () => {
    expect(await trySandbox(bwrap, options, { filter: callFilter({ allowsSetgid: false }) })).toEqual({
      complaint: null,
      leaks: [],
    });
  });
});
