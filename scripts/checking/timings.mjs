// How long every test file took in the latest runs, to be held against each other.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const runsKept = 20;
const shown = 20;

/** The kept runs, oldest first; none where there is no such file, or it is damaged. */
function keptRuns(path) {
  try {
    const runs = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(runs) ? runs : [];
  } catch {
    return [];
  }
}

/** Prints the slowest files, each beside the time that it took when it ran last, and keeps the times of all. */
export function reportTimings(folder, run) {
  const path = join(folder, 'timings.json');
  const runs = keptRuns(path);
  const before = new Map(
    runs.flatMap(({ files }) => files).map(({ project, file, seconds }) => [`${project} ${file}`, seconds]),
  );
  const slowest = run.files.toSorted((a, b) => b.seconds - a.seconds).slice(0, shown);
  if (slowest.length > 0) {
    process.stdout.write(`\n── the ${slowest.length} slowest test files: seconds, and seconds when each ran last\n`);
    for (const { project, file, seconds } of slowest) {
      const last = before.get(`${project} ${file}`);
      const columns = [
        seconds.toFixed(1).padStart(7),
        (last?.toFixed(1) ?? '-').padStart(7),
        ` ${project.padEnd(9)}`,
        file,
      ];
      process.stdout.write(`${columns.join(' ')}\n`);
    }
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, JSON.stringify([...runs, run].slice(-runsKept), null, 1));
}
