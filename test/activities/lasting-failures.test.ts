/** What a step's work throws that is no failure of its own: tried again, and in the end the step's failure, unless something is away. */
import { expect, test } from 'vitest';
import { Failure } from '../../world/failures/failures.ts';
import { ERRORS_MAX, lastingFailure } from '../../activities/steps/failures.ts';

const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const noSocket = Object.assign(new Error('connect ENOENT'), { code: 'ENOENT', syscall: 'connect' });
const noFile = Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' });
const ofTemporal = Object.assign(new Error('14 UNAVAILABLE'), { name: 'ServiceError' });

test.each<[string, unknown, boolean]>([
  ['a bug', new TypeError('x is not a function'), true],
  ['what is no error', 'thrown', true],
  ['a statement that is wrong', Object.assign(new Error('syntax error'), { code: '42601' }), true],
  ['a file that is not there', noFile, true],
  ['a database whose socket is not there', noSocket, false],
  ['a database that is away', away, false],
  ['one behind another error', new Error('the query failed', { cause: away }), false],
  ['a Temporal server that is away', ofTemporal, false],
  ['a failure of the step, which has a code', new Failure('FILE_NOT_FOUND', 'none'), false],
])('%s', (what, error, isLasting) => {
  for (let count = 1; count < ERRORS_MAX; count += 1) expect(lastingFailure(error, what)).toBeNull();
  expect(lastingFailure(error, `another step after ${what}`)).toBeNull();
  const failure = lastingFailure(error, what);
  expect(failure?.code).toBe(isLasting ? 'ACTIVITY_FAILED' : undefined);
  if (isLasting) expect(failure?.message).toContain(`tried ${ERRORS_MAX} times`);
});
