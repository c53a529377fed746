/** Names of time zones. */

/** The name as whoever keeps schedules knows it, to whom zones are files: capitals count. Undefined for what is no zone. */
export function zoneIn(written: string): string | undefined {
  const name = written.trim();
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : nameIn(name);
  } catch {
    return undefined;
  }
}

/** One that the platform takes for another zone, under a name of its own (`Asia/Calcutta`, `US/Eastern`). */
function nameIn(name: string): string {
  const listed = Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase() === name.toLowerCase());
  return listed ?? name;
}
