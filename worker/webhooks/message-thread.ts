/** Reads one large message beside the event loop, and gives its body back. */
import { parentPort, workerData } from 'node:worker_threads';
import { readMessage, type MessageTask } from './read-message.ts';

const task = workerData as MessageTask;
const read = await readMessage(task);
parentPort?.postMessage({ read, body: task.body }, [task.body.buffer as ArrayBuffer]);
