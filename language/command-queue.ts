/** The task queues of commands that have one of their own: below the queue of the run, so that no two projects share one. */
export const commandQueue = (taskQueue: string, name: string): string => `${taskQueue}/${name}`;
