/** Cassettes as files, read with every problem named. */
import { readFileSync } from 'node:fs';
import { readCassette, type Cassette } from '../../world/models/cassette/cassette.ts';
import { ClientError } from '../../runs/client-error.ts';

const PROBLEMS_MAX = 10;

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function readCassetteFile(file: string): { text: string; cassette: Cassette } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ClientError(
      'USAGE',
      `The cassette ${file} cannot be read (${sentenceOf(error)}); give a file that --record or "sentinel cassette" wrote.`,
    );
  }
  const read = readCassette(text);
  if (read.ok) return { text, cassette: read.cassette };
  const { problems } = read;
  const more = problems.length > PROBLEMS_MAX ? [`and ${problems.length - PROBLEMS_MAX} more`] : [];
  throw new ClientError(
    'USAGE',
    [
      `The cassette ${file} cannot be used; record it again, or mend it:`,
      ...problems.slice(0, PROBLEMS_MAX),
      ...more,
    ].join('\n'),
    { details: { file, problems } },
  );
}
