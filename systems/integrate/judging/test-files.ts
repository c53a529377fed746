/** What belongs to the tests of a project: their files, and what decides which of them run. */
import { isJsonObject, type Json } from '../../../language/json.ts';

const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|specs?|testdata|__snapshots__|__mocks__|fixtures)\//;
const TEST_NAME = /(?:^|\/)(?:test_[^/]*\.py|[^/]*_test\.(?:py|go|rs)|[^/]*\.(?:test|spec)\.[^/]+)$/;

export const isTestFile = (path: string): boolean => TEST_FOLDER.test(path) || TEST_NAME.test(path);

/** Files that only say how tests run. */
const SETUP_NAME =
  /(?:^|\/)(?:conftest\.py|pytest\.ini|tox\.ini|\.coveragerc|sitecustomize\.py|usercustomize\.py|(?:vitest|jest)\.(?:config|workspace|setup)\.[cm]?[jt]s(?:on)?|\.npmrc|\.mocharc\.[a-z]+|\.cargo\/config(?:\.toml)?)$/;

export const isTestSetup = (path: string): boolean => SETUP_NAME.test(path);

/** Of a file that also says other things: the part that is about tests, to be compared. Null: it has none. */
export function testPartOf(path: string, text: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === 'package.json') return packagePart(text);
  if (name === 'pyproject.toml' || name === 'setup.cfg' || name === 'Cargo.toml') return tablesOf(text);
  if (name.endsWith('.rs')) return text.includes('#[cfg(test)]') ? text.slice(text.indexOf('#[cfg(test)]')) : null;
  return null;
}

function packagePart(text: string): string | null {
  try {
    const read = JSON.parse(text) as Json;
    if (!isJsonObject(read)) return null;
    const scripts = isJsonObject(read['scripts']) ? read['scripts'] : {};
    const { pretest = null, test = null, posttest = null } = scripts;
    return JSON.stringify([
      pretest,
      test,
      posttest,
      read['jest'] ?? null,
      read['vitest'] ?? null,
      read['mocha'] ?? null,
    ]);
  } catch {
    return text;
  }
}

const TEST_TABLE = /^\[+(?:tool[.:]pytest|tool\.coverage|test|lib|profile\.test|\[test)/;

/** The tables of a TOML or INI file that are about tests. */
function tablesOf(text: string): string | null {
  const kept: string[] = [];
  let isKept = false;
  for (const row of text.split('\n')) {
    if (row.startsWith('[')) isKept = TEST_TABLE.test(row);
    if (isKept && row.trim() !== '') kept.push(row.trim());
  }
  return kept.length === 0 ? null : kept.join('\n');
}
