/** Files of one process share its clock: a file that sets it gives it back. */
import { afterAll, vi } from 'vitest';

afterAll(() => void vi.useRealTimers());
