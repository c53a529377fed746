/** The text forms of changesets and bundles: what is written is read again, byte for byte, and what others wrote is read. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../systems/cycle/changesets/changeset.ts';
import { catsOf, dogsOf, parseCats, parseDogs } from '../../../systems/cycle/changesets/text-forms.ts';
import { randomRuns } from '../../random-runs.ts';

const PUBLIC = `## PAWS Change Proposal (dogs.md)

\`\`\`paws-change
operation: CREATE
file_path: src/new-file.js
\`\`\`
\`\`\`javascript
export const one = 1;
\`\`\`

Some words between.

\`\`\`paws-change
operation: MODIFY
file_path: /src/existing.js
reason: it was wrong
\`\`\`

\`\`\`
two
\`\`\`

\`\`\`paws-change
operation: DELETE
file_path: src/old-file.js
\`\`\`
`;

test('reads a changeset as others write it', () => {
  expect(parseDogs(PUBLIC)).toEqual({
    problems: [],
    value: {
      operations: [
        { operation: 'CREATE', path: 'src/new-file.js', content: 'export const one = 1;' },
        { operation: 'MODIFY', path: 'src/existing.js', content: 'two', reason: 'it was wrong' },
        { operation: 'DELETE', path: 'src/old-file.js' },
      ],
    },
  });
});

test('reads a bundle as others write it', () => {
  const text =
    '## PAWS Context Bundle (cats.md)\n\n**Reason:** add a flag\n\n**Files:** 1\n\n---\n\n### File: a.js\n\n```vfs-file\npath: a.js\n```\n\n```\none\ntwo\n```\n';
  expect(parseCats(text)).toEqual({
    problems: [],
    value: { reason: 'add a flag', files: [{ path: 'a.js', content: 'one\ntwo' }] },
  });
});

describe('a text that is broken', () => {
  test.each([
    ['no block at all', 'words', 'holds no block'],
    ['an end in the middle of a file', PUBLIC.slice(0, PUBLIC.indexOf('export') + 6), 'is never closed'],
    ['a block without a path', '```paws-change\noperation: CREATE\n```\n```\na\n```\n', 'line 1 has no file_path'],
    ['another operation', '```paws-change\noperation: MOVE\nfile_path: a\n```\n', 'has no operation'],
    ['no content', '```paws-change\noperation: CREATE\nfile_path: a\n```\n', 'has no content'],
    [
      'the content of the next file',
      '```paws-change\noperation: CREATE\nfile_path: a\n```\n```paws-change\noperation: CREATE\nfile_path: b\n```\n```\nb\n```\n',
      'has no content',
    ],
    ['another mode', '```paws-change\noperation: CREATE\nfile_path: a\nmode: 777\n```\n```\na\n```\n', 'mode "777"'],
  ])('%s', (_what, text, words) => {
    const { problems } = parseDogs(text);
    expect(problems.map(({ why }) => why).join('\n')).toContain(words);
  });
});

const line = fc.oneof(
  fc.string(),
  fc.constantFrom('```', '````', '```paws-change', '``` js', '\r', 'path: a', '`````'),
);
const content = fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n'));
const path = fc
  .array(fc.stringMatching(/^[A-Za-z0-9._@ -]{1,12}$/), { minLength: 1, maxLength: 3 })
  .map((names) => names.map((name) => `n${name}n`).join('/'));
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ operation: fc.constantFrom('CREATE' as const, 'MODIFY' as const), path, content }),
  fc.record({
    operation: fc.constant('CREATE' as const),
    path,
    base64: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
    mode: fc.constantFrom('100644' as const, '100755' as const),
  }),
  fc.record({ operation: fc.constant('DELETE' as const), path }),
);

test('a changeset is read as it was written', () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 6 }), (operations) => {
      expect(parseDogs(dogsOf({ operations }))).toEqual({ problems: [], value: { operations } });
    }),
    randomRuns(1_000, 200),
  );
});

test('a bundle is read as it was written', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ path, content }), { minLength: 1, maxLength: 6 }), (files) => {
      expect(parseCats(catsOf({ reason: 'why', files }))).toEqual({ problems: [], value: { reason: 'why', files } });
    }),
    randomRuns(1_000, 200),
  );
});
