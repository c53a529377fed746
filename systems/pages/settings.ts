/** What a project may set of pages. */
import * as z from 'zod';

export const Settings = z.strictObject({
  hosts: z
    .array(
      z
        .string()
        .regex(
          /^(?:(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|[0-9a-f:]+)$/,
          'must be a host in small letters (docs.example.com), all hosts below one (*.example.com), or an address',
        ),
    )
    .min(1)
    .optional()
    .describe('the hosts that a page may be of, and load from; all when absent'),
});

/** Null: it may be of any host. */
export function refusedBy(settings: unknown): ((host: string) => string | null) | null {
  const { hosts } = Settings.parse(settings);
  if (hosts === undefined) return null;
  return (host) =>
    hosts.some((one) => (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one))
      ? null
      : `settings.pages.hosts of the project's configuration names ${hosts.join(', ')} alone`;
}
