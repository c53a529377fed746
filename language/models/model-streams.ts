/**
 * What a model says while a turn is under way, as streams of the step's log: its answer, its thoughts, the
 * calls it makes, and remarks of ours. Each line of a stream stands behind the stream's mark.
 */
export const MODEL_STREAMS = { answer: '', thought: '~ ', calls: '→ ', notes: '↻ ' } as const;

export type ModelStream = keyof typeof MODEL_STREAMS;

export const modelStreams = Object.keys(MODEL_STREAMS) as ModelStream[];

export const isModelStream = (name: string): name is ModelStream => Object.hasOwn(MODEL_STREAMS, name);

/** What the lines of a stream begin with; nothing for what a process printed. */
export const markOf = (stream: string): string => (isModelStream(stream) ? MODEL_STREAMS[stream] : '');
