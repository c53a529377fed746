/** The pid of a process that a test wants to signal: 0 and what is below it would name groups, that of the tests among them. */
export function pidOf(process: { pid?: number | undefined } | null | undefined): number {
  const pid = process?.pid;
  if (pid === undefined || pid <= 1) throw new Error(`there is no process to signal (pid ${pid ?? 'unknown'})`);
  return pid;
}
