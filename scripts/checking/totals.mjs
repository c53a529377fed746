// What passed, failed and was skipped in one run of scripts/check.mjs, kept so that a later run can add it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export class Totals {
  passed = 0;
  /** @type {string[]} */
  failures = [];
  /** @type {string[]} */
  skipped = [];

  /** For a run that sums up both. */
  keep(folder, name) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(this));
  }

  /** A run that kept nothing ended before its last line, which is a failure of the sum. */
  add(folder, name) {
    let kept;
    try {
      kept = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
    } catch (error) {
      this.failures.push(`npm ${name}: kept no result (${error instanceof Error ? error.message : String(error)})`);
      return;
    }
    this.passed += kept.passed;
    this.failures.unshift(...kept.failures);
    this.skipped.unshift(...kept.skipped);
  }

  /** The skipped, the failed with their reasons, and the one line that sums up. */
  print() {
    process.stdout.write('\n');
    for (const name of this.skipped) process.stdout.write(`skipped: ${name}\n`);
    for (const failure of this.failures) process.stdout.write(`FAILED: ${failure}\n`);
    process.stdout.write(`${this.passed} passed, ${this.failures.length} failed\n`);
  }
}
