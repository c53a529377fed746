/** Conversations of runs as training samples, as the client gives them. */
export { RUN_OUTCOMES, STEP_OUTCOMES, type Sample, type SampleQuery } from '../../operations/samples/samples.ts';
