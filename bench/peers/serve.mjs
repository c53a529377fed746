import { inParallel } from '../../dist/bench/lanes.js';

// The end of a peer's process that the benchmark talks to: it runs what it is told, as often and as many at once as
// it is told, and answers with the time of each run, and of all.
export function serve(run) {
  process.on('message', ({ work, count, width }) => {
    inParallel(count, width, () => run(work)).then(
      (together) => process.send(together),
      (error) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => process.exit(0));
  process.send('ready');
}
