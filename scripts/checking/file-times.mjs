// A reporter of vitest: how long each test file took, with its imports and hooks, as JSON in the file
// that SENTINEL_FILE_TIMES names. The JSON reporter knows the times of tests only.
import { writeFileSync } from 'node:fs';

export default class FileTimes {
  #files = [];

  onTestModuleEnd(module) {
    const { collectDuration, duration } = module.diagnostic();
    this.#files.push({
      project: module.project.name,
      file: module.relativeModuleId,
      seconds: Math.round((collectDuration + duration) / 10) / 100,
    });
  }

  onTestRunEnd() {
    writeFileSync(process.env.SENTINEL_FILE_TIMES, JSON.stringify(this.#files));
  }
}
