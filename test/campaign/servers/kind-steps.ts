/** What kinds of runs are made of. Every effect says `$id`, the run that it belongs to. */
import type { Json } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { shell } from '../../server/harness/definitions.ts';

/** Who has to do something beside the run, for it to end. */
export type Company =
  'publishes' | 'edits' | 'pauses' | 'terminates' | 'abandons' | 'orphans' | 'triggers' | 'posts' | 'schedules';

export interface Kind {
  definition: Definition;
  company?: Company;
  /** Events or a schedule start it. */
  isTriggered?: boolean;
  isSandboxed?: boolean;
}

export const COLLECTION = 'campaign';

export const row = (at: Json): Step => ({
  type: 'command',
  command: 'data/create',
  params: { collection: COLLECTION, data: { run: '$id', at } },
});

export const say = (what: string): Step =>
  shell(`echo $id ${what}-begun >> $out; sleep 0.3; echo $id ${what} >> $out; echo ${what}`);

export const command = (name: string, params: { [name: string]: Json }, rest: object = {}): Step => ({
  type: 'command',
  command: name,
  params,
  ...rest,
});

export const emit = (data: Json): Step => ({ type: 'emit', event: 'campaign:said', data: { id: '$id', data } });
