/**
 * The program below which the processes of a step run, in the languages that a host may have. It is two
 * processes, a guard and its child, the init; both take in what loses its parent (PR_SET_CHILD_SUBREAPER).
 *
 * - N1 The init starts the step's program in a session of its own, with its variables and bounds, says
 *      `pid N` and, once it ends, `exit STATUS` (as wait has it) on a descriptor. It ends itself with the
 *      last process below it, and without a descriptor ends them when its program has ended.
 * - N2 SIGUSR1 to either kills all that is below, without a pause in which something could get away: who
 *      loses its parent becomes a child of the one that kills.
 * - N3 When one of them ends before its time, the other kills all that is below.
 *
 * Arguments: the numbers of prctl, setsid and prlimit64; the descriptor, or 0 for none; the mark and its hard bound
 * (step-mark.ts); the bound on data, or 0; the program and its arguments. Its variables begin with `S_`: none of them reaches this program.
 */
export const INIT_NAME = 'sentinel-init';

export const perlInit = String.raw`# sentinel-init: holds the processes of a step together
my ($prctl, $setsid, $prlimit, $descriptor, $mark, $markMax, $data, @program) = @ARGV;
$_ += 0 for $prctl, $setsid, $prlimit, $descriptor, $mark, $markMax, $data;
my $name = "sentinel-init";
my $guard = $$;
my @deaf = qw(HUP INT QUIT PIPE ALRM TERM USR2 TSTP TTIN TTOU);

sub children {
  if (open my $file, "<", "/proc/$$/task/$$/children") { local $/; return split " ", <$file> // ""; }
  opendir my $folder, "/proc" or return;
  return grep {
    local $/;
    /^\d+$/ && open(my $file, "<", "/proc/$_/stat") && (<$file> // "") =~ /.*\) \S (\d+)/s && $1 == $$
  } readdir $folder;
}

sub finish {
  for (my $pause = 0; ; $pause += $pause < 0.1 ? 0.0005 : 0) {
    kill "KILL", children();
    my $ended;
    1 while ($ended = waitpid -1, 1) > 0;
    exit 0 if $ended < 0;
    select undef, undef, undef, $pause;
  }
}

sub bound {
  my ($what, $soft, $hard) = @_;
  my $now = "\0" x 16;
  return if syscall($prlimit, 0, $what, 0, $now) < 0;
  my (undef, $most) = unpack "Q2", $now;
  my $wanted = pack "Q2", $soft, $hard < $most ? $hard : $most;
  syscall($prlimit, 0, $what, $wanted, 0);
}

sub quiet { close STDIN; close STDOUT; close STDERR; }

syscall($prctl, 36, 1, 0, 0, 0) == 0 or die "sentinel: no subreaper: $!\n";
syscall($prctl, 15, $name, 0, 0, 0);
my ($how, $where) = $descriptor ? (">&=", $descriptor) : (">", "/dev/null");
open my $report, $how, $where or die "sentinel: no descriptor $descriptor: $!\n";
$SIG{$_} = "IGNORE" for @deaf;
$SIG{USR1} = \&finish;

my $init = fork;
die "sentinel: $!\n" unless defined $init;
if ($init == 0) {
  syscall($prctl, 36, 1, 0, 0, 0) == 0 or die "sentinel: no subreaper: $!\n";
  syscall($prctl, 1, 10, 0, 0, 0);
  exit 1 if getppid != $guard;
  my $main = fork;
  die "sentinel: $!\n" unless defined $main;
  if ($main == 0) {
    close $report;
    $SIG{$_} = "DEFAULT" for @deaf, "USR1";
    syscall($setsid);
    bound(10, $mark, $markMax);
    bound(2, $data, $data) if $data;
    my %own = map { /^S_/ ? (substr($_, 2), $ENV{$_}) : () } keys %ENV;
    %ENV = %own;
    exec { $program[0] } @program;
    print STDERR "sentinel: $program[0]: $!\n";
    exit 126;
  }
  quiet();
  syswrite $report, "pid $main\n";
  while ((my $ended = wait) > 0) {
    next if $ended != $main;
    syswrite $report, "exit $?\n";
    finish() unless $descriptor;
  }
  exit 0;
}
close $report;
quiet();
while ((my $ended = wait) > 0) { last if $ended == $init; }
finish();
`;

export const pythonInit = String.raw`# sentinel-init: holds the processes of a step together
import ctypes, os, resource, signal, sys, time
_, _, _, descriptor, mark, mark_max, data = map(int, sys.argv[1:8])
program = [os.fsencode(each) for each in sys.argv[8:]]
report = descriptor or os.open("/dev/null", os.O_WRONLY)
prctl = ctypes.CDLL(None).prctl
guard = os.getpid()
deaf = [getattr(signal, "SIG" + name) for name in "HUP INT QUIT PIPE ALRM TERM USR2 TSTP TTIN TTOU".split()]

def children():
    own = os.getpid()
    try:
        with open("/proc/%d/task/%d/children" % (own, own)) as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        pass
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == own:
                    found.append(int(pid))
        except (OSError, IndexError):
            pass
    return found

def finish(*_):
    pause = 0
    while True:
        for pid in children():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0] > 0:
                pass
        except ChildProcessError:
            os._exit(0)
        time.sleep(pause)
        pause = min(pause + 0.0005, 0.1)

def bound(what, soft, hard):
    try:
        most = resource.getrlimit(what)[1]
        resource.setrlimit(what, (soft, hard if most == resource.RLIM_INFINITY else min(hard, most)))
    except (OSError, ValueError):
        pass

def quiet():
    for each in (0, 1, 2):
        os.close(each)

if prctl(36, 1, 0, 0, 0) != 0:
    sys.exit("sentinel: no subreaper")
prctl(15, b"sentinel-init", 0, 0, 0)
for each in deaf:
    signal.signal(each, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, finish)

init = os.fork()
if init == 0:
    if prctl(36, 1, 0, 0, 0) != 0:
        sys.exit("sentinel: no subreaper")
    prctl(1, int(signal.SIGUSR1), 0, 0, 0)
    if os.getppid() != guard:
        os._exit(1)
    main = os.fork()
    if main == 0:
        os.close(report)
        for each in [*deaf, signal.SIGUSR1, signal.SIGXFSZ]:
            signal.signal(each, signal.SIG_DFL)
        os.setsid()
        bound(10, mark, mark_max)
        if data:
            bound(resource.RLIMIT_DATA, data, data)
        env = {name[2:]: value for name, value in os.environb.items() if name.startswith(b"S_")}
        os.environb.clear()
        os.environb.update(env)
        try:
            os.execvpe(program[0], program, env)
        except OSError as error:
            os.write(2, b"sentinel: %s: %s\n" % (program[0], os.strerror(error.errno).encode()))
        os._exit(126)
    quiet()
    os.write(report, b"pid %d\n" % main)
    try:
        while True:
            ended, status = os.wait()
            if ended == main:
                try:
                    os.write(report, b"exit %d\n" % status)
                except OSError:
                    pass
                if not descriptor:
                    finish()
    except ChildProcessError:
        os._exit(0)
os.close(report)
quiet()
try:
    while os.wait()[0] != init:
        pass
except ChildProcessError:
    pass
finish()
`;
