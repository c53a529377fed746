/** `sentinel saved keys|trust|distrust`: the keys whose exports are imported here. */
import type { Command } from 'commander';
import { readConfig } from '../../services/config/config.ts';
import { ClientError } from '../../client/client.ts';
import { addKnownKey, fingerprintOf, forgetKey, isPublicKey, knownKeys, ownKey } from '../../services/home/signing.ts';
import { openOutput } from '../output/output.ts';
import { table } from '../output/table.ts';
import { usage } from '../request/usage.ts';

const nameLengthMax = 100;

export function defineKeys(command: Command): void {
  command
    .description('Lists the keys whose exports are imported: that of this installation first, then those of others.')
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved keys
  sentinel saved keys --json    [{name, key, fingerprint, own, addedAt}]`,
    )
    .action((_options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      const own = { name: 'this installation', key: ownKey(readConfig().home), own: true, addedAt: null };
      const all = [own, ...knownKeys().map((one) => ({ ...one, own: false }))].map((one) => ({
        ...one,
        fingerprint: fingerprintOf(one.key),
      }));
      output.object(all);
      const rows = all.map(({ name, fingerprint, key }) => [name, fingerprint, key]);
      for (const line of table(['NAME', 'FINGERPRINT', 'KEY'], rows, output.paint)) output.line(line);
    });
}

export function defineTrust(command: Command): void {
  command
    .description(
      'Says that you know whose a key is: exports that it has signed are imported from then on. Compare the fingerprint with that which "sentinel saved keys" shows where the key is.',
    )
    .argument('<key>', 'the key, as "sentinel saved keys" shows it')
    .argument('<name>', 'how you call it')
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved trust pmBfmhNpEcGhnlDDDLO5oZ_3hPXz7qeSs8qGV4zXG0A build-host`,
    )
    .action((key: string, name: string, _options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      if (!isPublicKey(key)) throw usage(`"${key}" is no key; "sentinel saved keys" shows it where it is.`);
      if (name.trim() === '' || name.length > nameLengthMax)
        throw usage(`The name of a key has 1 to ${nameLengthMax} characters.`);
      addKnownKey(key, name);
      const fingerprint = fingerprintOf(key);
      output.object({ ok: true, name, key, fingerprint });
      output.line(`${output.paint.good('✔')} ${name} is known: ${fingerprint}`);
    });
}

export function defineDistrust(command: Command): void {
  command
    .description('Takes a key off the list; what was imported stays. Exit code 4 if it is not on it.')
    .argument('<key>', 'the key, its fingerprint or its name')
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved distrust build-host`,
    )
    .action((key: string, _options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      if (forgetKey(key) === 0)
        throw new ClientError('NOT_FOUND', `There is no known key "${key}"; see "sentinel saved keys".`);
      output.object({ ok: true, key });
      output.line(`${key} is not known any more.`);
    });
}
