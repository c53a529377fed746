/** The trainer's environment is installed from the lock file, and the trainer's own tests pass in it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inspectTrainer } from '../../services/inspect-trainer.ts';
import { installTrainer } from '../../services/trainer/install-trainer.ts';
import { cacheDir, environment, model, python, why } from './installed.ts';

describe.skipIf(environment === null)(`the trainer's environment${why}`, () => {
  test('is there once, and a second install finds it', async () => {
    const again = await installTrainer({ cacheDir, env: process.env, onProgress: () => undefined });
    expect(again.wasInstalled).toBe(true);
    expect(existsSync(again.environment.python)).toBe(true);
  });

  test('is well by its own doctor', async () => {
    const entries = await inspectTrainer(cacheDir, model === null ? {} : { model });
    expect(entries.filter(({ ok }) => !ok)).toEqual([]);
    expect(entries.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['trainer', 'trainer: torch', 'trainer: peft', 'trainer: accelerator']),
    );
  });

  test('and a file that is no model is a row of its own, beside those of the packages', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sentinel-trainer-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const notes = join(folder, 'notes.txt');
    writeFileSync(notes, 'Buy milk.');
    const entries = await inspectTrainer(cacheDir, { model: notes });
    expect(entries.filter(({ ok }) => !ok)).toMatchObject([
      { name: 'trainer: tokenizer', found: expect.stringContaining(notes), remedy: 'name another model' },
    ]);
    expect(entries.map(({ name }) => name)).toEqual(expect.arrayContaining(['trainer', 'trainer: torch']));
  });

  test('passes its own tests', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sentinel-trainer-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const report = join(folder, 'report.xml');
    python(['-m', 'pytest', '-p', 'no:cacheprovider', `--junitxml=${report}`]);
    const said = readFileSync(report, 'utf8');
    for (const [, name = '', reason = ''] of said.matchAll(/name="([^"]*)"[^>]*><skipped[^>]*message="([^"]*)"/g))
      process.stdout.write(`skipped: ${name}: ${reason}\n`);
    expect(Number(/tests="(\d+)"/.exec(said)?.[1])).toBeGreaterThan(100);
  });
});
