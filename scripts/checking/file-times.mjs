// A reporter of vitest, for what the JSON reporter does not say: how long each test file took, with its imports and
// hooks, and the errors that belong to no test. As JSON in the file that SENTINEL_FILE_TIMES names.
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

  onTestRunEnd(_modules, errors) {
    const unhandled = errors.map(({ name, message, stack }) => `${name}: ${message}\n${stack ?? ''}`);
    writeFileSync(process.env.SENTINEL_FILE_TIMES, JSON.stringify({ files: this.#files, unhandled }));
  }
}
