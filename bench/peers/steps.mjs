// What a step does, in every peer: it reads a file, reads a row, writes one, or starts a shell command.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const project = process.env.BENCH_PROJECT;
const execute = promisify(execFile);
const pool = new pg.Pool({ connectionString: process.env.BENCH_DATABASE_URL, max: 10 });

export const perform = {
  'code-read': () => readFile(join(project, 'notes.txt'), 'utf8'),
  'data-read': async () =>
    (await pool.query('select data from bench_rows where id = $1', ['row'])).rows[0]?.data ?? null,
  'data-create': async (index) => {
    const id = randomUUID();
    await pool.query('insert into bench_rows (id, data) values ($1, $2)', [id, JSON.stringify({ index })]);
    return id;
  },
  shell: async (index) => (await execute('/bin/sh', ['-c', `echo step ${index}`], { cwd: project })).stdout,
};
