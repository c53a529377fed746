/**
 * The program below which the processes of a step run, in the languages that a host may have. It is two
 * processes, a guard and its child, the init; both take in what loses its parent (PR_SET_CHILD_SUBREAPER).
 *
 * - N1 The init starts the step's program in a session of its own, with its variables and bounds, says
 *      `pid N` and, once it ends, `exit STATUS` (as wait has it) on a descriptor, behind its tag where it has one. It ends itself with the
 *      last process below it, and without a descriptor ends them when its program has ended.
 * - N2 SIGUSR1 to either kills all that is below, without a pause in which something could get away: who
 *      loses its parent becomes a child of the one that kills.
 * - N3 When one of them ends before its time, the other kills all that is below.
 * - N4 Where it is asked to, it gives the program pipes, so that whatever opens `/dev/stdin` or `/dev/stderr` by name finds
 *      what a shell would give it: a file would be emptied, and a socket cannot be opened. The guard writes what comes to
 *      its own streams, and reports an end when all that was printed before it is written.
 *
 * With a folder it is the keeper of a process that outlives its worker (kept/kept-folder.ts):
 *
 * - N5 `who` is there before the program runs, and the program does not run where it cannot be written.
 * - N6 `outcome` is there, whole, once the program has ended. Its place was taken before, so that a full disk does not
 *      keep it away. Where the guard was killed, the init writes it.
 * - N7 Time and memory are bounded without a worker: what passes them is ended, and `reason` says so.
 * - N8 What is printed faster than it is read, or than there is room for, waits in the pipe; what was read is given back to
 *      the disk. What was printed before the program ended is there before `outcome`.
 *
 * Arguments: the numbers of prctl, setsid, prlimit64, setitimer and fallocate; the descriptor, or 0 for none; the tag of one
 * with pipes, or nothing; the mark
 * and its hard bound (step-mark.ts); the bound on data, or 0; how many descriptors above the streams are the program's
 * alone; 1 where it has pipes; the folder, or nothing, and its bounds: seconds of time and of grace, kilobytes of memory and bytes of output,
 * each 0 for none; the program and its arguments. Its variables begin with `S_`: none of them reaches this program.
 */
export const INIT_NAME = 'sentinel-init';

export const perlInit = String.raw`# sentinel-init: holds the processes of a step together
my ($prctl, $setsid, $prlimit, $setitimer, $fallocate, $descriptor, $tag, $mark, $markMax, $data, $inherited,
  $isPiped, $folder, $seconds, $grace, $memory, $most, @program) = @ARGV;
$_ += 0 for $prctl, $setsid, $prlimit, $setitimer, $fallocate, $descriptor, $mark, $markMax, $data, $inherited,
  $isPiped, $seconds, $grace, $memory, $most;
my $name = "sentinel-init";
my $guard = $$;
my @deaf = qw(HUP INT QUIT PIPE ALRM TERM USR2 TSTP TTIN TTOU);

sub text { my ($path) = @_; local $/; open my $file, "<", $path or return ""; return scalar(<$file>) // ""; }

sub children {
  my ($pid) = @_;
  opendir my $tasks, "/proc/$pid/task" or return;
  my @found = map { split " ", text("/proc/$pid/task/$_/children") } grep { /^\d+$/ } readdir $tasks;
  return @found if @found || -e "/proc/$pid/task/$pid/children";
  opendir my $all, "/proc" or return;
  return grep { /^\d+$/ && text("/proc/$_/stat") =~ /.*\) \S (\d+)/s && $1 == $pid } readdir $all;
}

sub below { my ($pid) = @_; return map { ($_, below($_)) } children($pid); }

my ($report, $status, $isTold, $isAsked, $hears, $says, $feed, @pumps);

sub finish {
  for (my $pause = 0; ; $pause += $pause < 0.1 ? 0.0005 : 0) {
    kill "KILL", children($$);
    my $ended;
    1 while ($ended = waitpid -1, 1) > 0;
    last if $ended < 0;
    select undef, undef, undef, $pause;
  }
  pump($_) for @pumps;
  outcome($status // 9);
  exit 0;
}

sub bound {
  my ($what, $soft, $hard) = @_;
  my $now = "\0" x 16;
  return if syscall($prlimit, 0, $what, 0, $now) < 0;
  my (undef, $most) = unpack "Q2", $now;
  my $wanted = pack "Q2", $soft, $hard < $most ? $hard : $most;
  syscall($prlimit, 0, $what, $wanted, 0);
}

sub quiet {
  close STDIN; close STDOUT; close STDERR;
  for my $own (3 .. 2 + $inherited) { open my $file, "<&=", $own; close $file if $file; }
}

sub uptime { return (split " ", text("/proc/uptime"))[0]; }

sub fill {
  my ($file, $text) = @_;
  return (syswrite($file, sprintf("%-63s\n", $text)) // 0) == 64 && close $file;
}

sub put {
  my ($as, $text) = @_;
  open my $file, ">", "$folder/$as.new" or return 0;
  return fill($file, $text) && rename "$folder/$as.new", "$folder/$as";
}

sub outcome {
  my ($status) = @_;
  return if $folder eq "" || ! open my $file, "+<", "$folder/outcome.new";
  my $left = (grep { $_->{from} } @pumps) ? "open" : "closed";
  fill($file, "exit $status " . uptime() . " $left") and rename "$folder/outcome.new", "$folder/outcome";
}

sub because {
  my ($why) = @_;
  return 0 if ! sysopen my $file, "$folder/reason", 193, 0600;
  syswrite $file, "$why\n";
  return 1;
}

my ($end, $killAt, $isHeld, $ticks) = (0, 0, 0, 0);

sub look {
  my $now = uptime();
  if ($end && $now > $end) {
    my @all = below($$);
    if (!$killAt) { because("timeout"); kill "CONT", @all; kill "TERM", @all; $killAt = $now + $grace; }
    kill "KILL", @all if $now > $killAt;
  }
  if ($memory && ++$ticks % 5 == 0) {
    my $used = 0;
    for (below($$)) { my $status = text("/proc/$_/status"); $used += $1 while $status =~ /^Rss(?:Anon|Shmem):\s+(\d+)/mg; }
    if ($used > $memory) { because("memory $used"); kill "KILL", below($$); }
  }
}

sub piped {
  my ($name, $to) = @_;
  open my $file, ">>&", $to or die "sentinel: $!\n";
  pipe my $from, my $into or die "sentinel: $!\n";
  fcntl $from, 4, 2048;
  # A file never has to be waited for.
  fcntl $file, 4, 2048 if $folder eq "";
  return { name => $name, file => $file, from => $from, into => $into, left => "", bytes => 0 };
}

sub closed { my ($pump) = @_; close delete $pump->{from} if $pump->{from}; close $pump->{file}; $pump->{left} = ""; }

sub pump {
  my ($pump) = @_;
  # Not between a write and what is noted of it.
  local $SIG{USR1} = sub { $isAsked = 1 };
  for (my $turns = 0; $turns < 32; $turns++) {
    if ($pump->{left} ne "") {
      my $written = syswrite $pump->{file}, $pump->{left};
      # Nobody reads it any more: the program is told as by a pipe of its own.
      return $! == 32 && closed($pump) if !$written;
      $pump->{bytes} += $written;
      substr $pump->{left}, 0, $written, "";
      next;
    }
    return if !$pump->{from};
    my $got = sysread $pump->{from}, $pump->{left}, 65536;
    return if !defined $got;
    closed($pump) if !$got;
  }
}

sub fed {
  open my $file, "<&", \*STDIN or die "sentinel: $!\n";
  pipe my $from, my $into or die "sentinel: $!\n";
  fcntl $into, 4, 2048;
  return { file => $file, from => $from, into => $into, left => "" };
}

sub feed {
  local $SIG{USR1} = sub { $isAsked = 1 };
  if ($feed->{left} eq "") { sysread $feed->{file}, $feed->{left}, 65536 or undef $feed; return; }
  my $written = syswrite $feed->{into}, $feed->{left};
  if ($written) { substr $feed->{left}, 0, $written, ""; }
  elsif ($! != 11) { undef $feed; }
}

sub held {
  my @read = split " ", text("$folder/read");
  my $waiting = 0;
  for my $pump (@pumps) {
    my $read = shift(@read) || 0;
    $waiting += $pump->{bytes} - $read;
    my $from = 8 << 20;
    my $length = ($read - 2 * $from) & ~4095;
    next if $length <= $from || ! open my $file, "+<", "$folder/$pump->{name}";
    syscall($fallocate, fileno $file, 3, $from, $length) if (stat $file)[12] * 512 > 4 * $from;
  }
  $isHeld = $waiting > ($isHeld ? $most / 2 : $most);
}

sub watch {
  my $said = "";
  while ($hears || defined $status && !$isTold) {
    finish() if $isAsked;
    my @full = grep { $_->{left} ne "" } @pumps;
    my @ready = $isHeld ? () : grep { $_->{from} && $_->{left} eq "" } @pumps;
    my $bits = "";
    vec($bits, fileno $_, 1) = 1 for $hears || (), map { $_->{from} } @ready;
    my $eager = "";
    if ($feed && $feed->{left} ne "") { vec($eager, fileno $feed->{into}, 1) = 1; }
    elsif ($feed) { vec($bits, fileno $feed->{file}, 1) = 1; }
    if ($folder eq "") { vec($eager, fileno $_->{file}, 1) = 1 for @full; }
    my $isLong = $most && grep { $_->{bytes} > 4 << 20 } @pumps;
    my $isSlow = $isHeld || $isLong || $folder ne "" && @full;
    my $found = select $bits, $eager, undef, $isSlow ? 0.2 : undef;
    $bits = $eager = "" if $found < 0;
    feed() if $feed && ($feed->{left} eq "" ? vec $bits, fileno $feed->{file}, 1 : vec $eager, fileno $feed->{into}, 1);
    pump($_) for @full, grep { vec $bits, fileno $_->{from}, 1 } @ready;
    held() if $isLong;
    if ($hears && vec $bits, fileno $hears, 1) {
      undef $hears if !sysread $hears, $said, 4096, length $said;
      syswrite $report, $tag . $1 if $said =~ s/^(pid \d+\n)//;
      $status = $1 if $said =~ s/^exit (\d+)\n//;
    }
    told() if defined $status;
  }
}

sub told {
  if ($isTold) {
    return if $isTold > 1 || grep { $_->{from} } @pumps;
    if ($folder ne "") { open my $file, ">", "$folder/closed"; }
    return $isTold = 2;
  }
  pump($_) for @pumps;
  return if (grep { $_->{left} ne "" } @pumps) && !($end && uptime() > $end + $grace);
  $isTold = (grep { $_->{from} } @pumps) ? 1 : 2;
  outcome($status);
  syswrite $report, $tag . "exit $status\n";
}

syscall($prctl, 36, 1, 0, 0, 0) == 0 or die "sentinel: no subreaper: $!\n";
syscall($prctl, 15, $name, 0, 0, 0);
my ($how, $where) = $descriptor ? (">&=", $descriptor) : (">", "/dev/null");
open $report, $how, $where or die "sentinel: no descriptor $descriptor: $!\n";
$SIG{$_} = "IGNORE" for @deaf;
$SIG{USR1} = \&finish;
if ($isPiped) {
  @pumps = (piped("out", \*STDOUT), piped("err", \*STDERR));
  $feed = fed() if -f STDIN || -S STDIN;
  pipe $hears, $says or die "sentinel: $!\n";
}
if ($folder ne "") {
  my $boot = substr text("/proc/sys/kernel/random/boot_id"), 0, 8;
  my ($space) = (readlink("/proc/self/ns/pid") // "") =~ /(\d+)/;
  my $start = (split " ", substr(text("/proc/$$/stat"), rindex(text("/proc/$$/stat"), ")") + 2))[19];
  $end = uptime() + $seconds if $seconds;
  my $isKept = open my $place, ">", "$folder/outcome.new";
  $isKept &&= fill($place, "") && put("who", "$boot $space $$ $start");
  die "sentinel: $folder cannot be written: $!\n" if !$isKept;
}

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
    if ($feed) { open STDIN, "<&", $feed->{from}; }
    if (@pumps) { open STDOUT, ">&", $pumps[0]{into}; open STDERR, ">&", $pumps[1]{into}; }
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
  $report = $says if $isPiped;
  @pumps = ();
  undef $feed;
  undef $hears;
  syswrite $report, "pid $main\n";
  if ($folder ne "") {
    $SIG{ALRM} = \&look;
    my $often = pack "q4", 0, 200000, 0, 200000;
    syscall($setitimer, 0, $often, 0);
  }
  while ((my $ended = wait) > 0) {
    next if $ended != $main;
    $status = $?;
    syswrite $report, "exit $status\n";
    finish() unless $descriptor;
  }
  exit 0;
}
quiet();
if (!$isPiped) {
  close $report;
  while ((my $ended = wait) > 0) { last if $ended == $init; }
} else {
  close $says;
  close delete $_->{into} for @pumps;
  close delete $feed->{from} if $feed;
  watch();
}
finish();
`;
