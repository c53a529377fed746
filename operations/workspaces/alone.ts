/** What this process does one after the other, by name. Git's own locks stand between processes. */
const last = new Map<string, Promise<unknown>>();

export function alone<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
  const before = last.get(name) ?? Promise.resolve();
  const now = before.then(act, act);
  const settled = now.catch(() => undefined);
  last.set(name, settled);
  void settled.then(() => {
    if (last.get(name) === settled) last.delete(name);
  });
  return now;
}
