/** The module `sentinel-engine/client`. */
export * from '../client.ts';
export { readDefinition, type FileDefinition } from './read-file.ts';
export type { ConnectOptions } from '../contract/requests.ts';
export type { Definition, Step } from '../../language/model.ts';
export type { Json, JsonObject } from '../../language/json.ts';
export type { RunEvent, RunOutcome, RunStatus } from '../../language/events/run-event.ts';
