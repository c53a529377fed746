/** How long what a system does beside runs rests after a failure: twice as long after each further one. */
export const failureLengthMax = 2_000;
const firstRestMs = 1_000;
const restMsMax = 5 * 60_000;
/** Beyond, the rest is the longest anyway. */
const doublingsMax = 20;

/** Of a row with `attempts`, in a statement whose parameters from $4 on are these. */
export const REST_SECONDS = 'make_interval(secs => least($4 * power(2, least(attempts, $5)), $6) / 1000)';
export const restParameters = [firstRestMs, doublingsMax, restMsMax];
