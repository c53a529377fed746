/**
 * One small process of a worker that starts its keepers. To fork a worker takes milliseconds in which it does nothing
 * else, and to fork this one takes a fraction. It ends with its worker, and what it has started goes on.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable, Writable } from 'node:stream';
import type { Launch } from '../../confinement/sandbox.ts';
import { findHelper, helperEnvironment } from '../../own-programs/helper-programs.ts';
import { LeftBehind } from '../overtaken.ts';
import { processStart } from '../processes.ts';
import { exitOf, type Exit, setsidCall } from '../step-init.ts';

/**
 * A request is its length, a line end, and texts that end with a NUL: its tag, the folder, the files for its input and its
 * output, the number of its arguments, these, and its variables. It says `TAG started PID`, `TAG failed WHY` and `TAG
 * gone`; between these come the lines of the keepers (init-programs.ts). Its argument: the number of setsid.
 */
const PROGRAM = String.raw`# sentinel-starter: starts what holds the processes of steps together
BEGIN { $^F = 3 }
my $setsid = $ARGV[0] + 0;
my @deaf = qw(HUP INT QUIT PIPE TERM USR2 TSTP TTIN TTOU);
open my $report, ">&", \*STDOUT or die "sentinel: $!\n";
$SIG{$_} = "IGNORE" for @deaf;
$SIG{CHLD} = sub {};
my ($in, %tags) = ("");

sub begin {
  my ($tag, $cwd, $input, $out, $err, $count, @rest) = @_;
  my @program = splice @rest, 0, $count;
  my $pid = fork;
  if (!defined $pid) { syswrite $report, "$tag started 0\n$tag failed $!\n$tag gone\n"; return; }
  if ($pid) { $tags{$pid} = $tag; syswrite $report, "$tag started $pid\n"; return; }
  my $failed = sub { syswrite $report, "$tag failed $!\n"; kill "KILL", $$; };
  $SIG{$_} = "DEFAULT" for @deaf, "CHLD";
  syscall($setsid);
  chdir $cwd or $failed->();
  open STDIN, "<", $input or $failed->();
  for my $stream ([\*STDOUT, $out], [\*STDERR, $err]) {
    open $stream->[0], ">>", $stream->[1] or $failed->();
    syswrite $stream->[0], "\0" or $failed->();
  }
  %ENV = map { /^([^=]*)=(.*)$/s ? ($1 => $2) : () } @rest;
  exec { $program[0] } @program or $failed->();
}

while (1) {
  while ((my $pid = waitpid -1, 1) > 0) { syswrite $report, delete($tags{$pid}) . " gone\n" if $tags{$pid}; }
  my $bits = "\1";
  # An end right before the wait is seen a moment later.
  next if select($bits, undef, undef, %tags ? 0.05 : undef) <= 0;
  my $got = sysread STDIN, $in, 1 << 16, length $in;
  next if !defined $got;
  exit 0 if !$got;
  while ($in =~ /^(\d+)\n/ && length $in > length($1) + $1) {
    my $request = substr $in, length($1) + 1, $1;
    substr $in, 0, length($1) + 1 + $1, "";
    begin(split /\0/, $request, -1);
  }
}
`;

const lookMs = 50;

/** What has begun. */
export interface Begun {
  /** Of its keeper. */
  leader: number;
  /** Null when the keeper ended before it had started the program. */
  pid: number | null;
  exit: Promise<Exit>;
  gone: Promise<{ wasKilled: boolean }>;
}

interface Later<Value> {
  promise: Promise<Value>;
  resolve: (value: Value) => void;
  reject: (error: Error) => void;
}

function later<Value>(): Later<Value> {
  let [resolve, reject]: [Later<Value>['resolve'], Later<Value>['reject']] = [() => undefined, () => undefined];
  const promise = new Promise<Value>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}

interface Told {
  started: Later<number>;
  failed: Later<Error>;
  pid: Later<number | null>;
  exit: Later<Exit | null>;
  gone: Later<void>;
}

type Program = ChildProcessByStdio<Writable, Readable, null>;

export class Starter {
  readonly #told = new Map<string, Told>();
  #program: Program | null | undefined;
  #tags = 0;
  #isClosed = false;

  /** What its keeper's lines begin with. */
  nextTag(): string {
    this.#tags += 1;
    return String(this.#tags);
  }

  /**
   * `input`: its file; `folder`: in which its output goes to `out` and `err`. An error where it could not be started; null
   * where nothing here can do so. Rejects with `LeftBehind` where nobody knows whether it has begun.
   */
  async start(
    launch: Launch,
    tag: string,
    { input, folder }: { input: string | null; folder: string },
  ): Promise<Begun | Error | null> {
    const program = this.#opened();
    if (program === null) return null;
    const { file, args, cwd, env } = launch;
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const streams = [input ?? '/dev/null', `${folder}/out`, `${folder}/err`];
    const texts = [tag, cwd, ...streams, String(args.length + 1), file, ...args, ...variables];
    if (texts.some((text) => text.includes('\0'))) return new Error('an argument or a variable holds a NUL');
    const told: Told = {
      started: later(),
      failed: later(),
      pid: later(),
      exit: later(),
      gone: later(),
    };
    this.#told.set(tag, told);
    const request = Buffer.from(texts.join('\0'));
    program.stdin.write(Buffer.concat([Buffer.from(`${request.length}\n`), request]));
    const leader = await told.started.promise;
    const pid = await Promise.race([told.failed.promise, told.pid.promise]);
    if (pid instanceof Error) return pid;
    return {
      leader,
      pid,
      exit: told.exit.promise.then((exit) => exit ?? { code: null, signal: 'SIGKILL' }),
      gone: Promise.all([told.exit.promise, told.gone.promise]).then(([exit]) => ({ wasKilled: exit === null })),
    };
  }

  /** What it has started goes on. */
  close(): void {
    this.#isClosed = true;
    this.#program?.stdin.end();
  }

  #opened(): Program | null {
    if (this.#program === undefined || this.#program?.exitCode !== null) this.#program = this.#open();
    return this.#program;
  }

  #open(): Program | null {
    const perl = findHelper('perl');
    if (perl === null || setsidCall === undefined || this.#isClosed) return null;
    const program = spawn(perl, ['-e', PROGRAM, '--', String(setsidCall)], {
      cwd: '/',
      env: helperEnvironment(),
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    for (const part of [program, program.stdin, program.stdout] as { unref?: () => void }[]) part.unref?.();
    program.on('error', () => undefined);
    program.stdin.on('error', () => undefined);
    let said = '';
    program.stdout.on('data', (chunk: Buffer) => {
      const lines = `${said}${chunk.toString('latin1')}`.split('\n');
      said = lines.pop() ?? '';
      for (const line of lines) this.#hear(line);
    });
    void this.#outlive(program);
    return program;
  }

  #hear(line: string): void {
    const [, tag = '', word, rest = ''] = /^(\d+) (\w+) ?(.*)$/.exec(line) ?? [];
    const told = this.#told.get(tag);
    if (told === undefined) return;
    if (word === 'started') told.started.resolve(Number(rest));
    else if (word === 'failed') told.failed.resolve(new Error(rest));
    else if (word === 'pid') told.pid.resolve(Number(rest));
    else if (word === 'exit') told.exit.resolve(exitOf(Number(rest)));
    else if (word === 'gone') this.#end(tag, told);
  }

  /** Nothing is left of its keeper, which has said by then what it had to. */
  #end(tag: string, { pid, exit, gone }: Told): void {
    this.#told.delete(tag);
    pid.resolve(null);
    exit.resolve(null);
    gone.resolve();
  }

  /** Where it is ended from outside, what it has started still says how it ends, but nobody when it is gone. */
  async #outlive(program: Program): Promise<void> {
    await once(program, 'exit').catch(() => undefined);
    if (this.#program === program) this.#program = undefined;
    await Promise.all([...this.#told].map(([tag, told]) => this.#watch(tag, told)));
  }

  async #watch(tag: string, told: Told): Promise<void> {
    const leader = await Promise.race([told.started.promise, sleep(lookMs, null)]);
    if (typeof leader !== 'number') {
      told.started.reject(new LeftBehind('what starts the processes of this worker was ended'));
      return this.#end(tag, told);
    }
    while ((await processStart(leader)) !== null) await sleep(lookMs, undefined, { ref: false });
    // Its last word may be on its way.
    await sleep(lookMs, undefined, { ref: false });
    this.#end(tag, told);
  }
}
