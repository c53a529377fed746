/** What a segment can do by itself: quick commands and emitting, over the segment's session. */
import type { CommandContext, RunPort } from '../../operations/command.ts';
import { quickContext } from '../../operations/quick-context.ts';
import type { Registry } from '../../operations/registry.ts';
import type { Session, Store } from '../../prisma/store/contract/contract.ts';
import type { WaitingRows } from '../../prisma/store/contract/session-contract.ts';
import type { Json } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { DayBudgets } from '../limits/day-budgets.ts';
import { useOf, type Limiter } from '../limits/limiter.ts';
import type { RunInput } from '../../interpreter/host.ts';
import type { Effect, Reply } from '../../interpreter/effect.ts';
import { publishEvent } from '../../operations/events/publish-event.ts';
import {
  noSecrets,
  secretsOf,
  unsealedFor,
  withMaskedFailures,
  type Secrets,
} from '../../operations/secrets/secrets.ts';

export interface QuickSteps {
  /** `rows`: go out with the commit, and not before it. */
  perform(input: RunInput, session: Session, effect: Effect, rows: WaitingRows): Promise<Reply>;
}

/** What happens around the work of a step: it may be refused before, and is watched meanwhile. */
export type AroundStep = <Result>(
  step: { handle: string; key: string },
  work: () => Promise<Result>,
) => Promise<Result>;

export interface QuickParts {
  store: Store;
  registry: Registry;
  runs: RunPort;
  limiter: Limiter | undefined;
  /** Absent: no persona has a budget of a day. */
  days: DayBudgets | undefined;
  around: AroundStep | undefined;
}

export function quickSteps({ store, registry, runs, limiter, days, around = unwatched }: QuickParts): QuickSteps {
  return {
    async perform(input, session, effect, rows) {
      const begins = { persona: input.persona, handle: input.handle, key: effect.key };
      await days?.check(begins, rows);
      switch (effect.type) {
        case 'command': {
          const { env } = input;
          const secrets = env === undefined ? noSecrets() : await secretsOf(store, env);
          const params = unsealedFor(registry.find(effect.command), effect.params, secrets);
          const context = contextOf({ store, runs }, input, session, effect, secrets);
          const { handle } = input;
          const work = async (): Promise<Json> => {
            await days?.beginQuick(begins, rows);
            return around({ handle, key: effect.key }, () =>
              withMaskedFailures(secrets, () => registry.run(effect.command, params, context)),
            );
          };
          const use = { id: useOf(input.handle, effect.key), timeoutMs: effect.timeoutMs, signal: never };
          const value = await (limiter?.tool(effect.command, use, work) ?? work());
          return { ok: true, value: secrets.results.json(value) };
        }
        case 'emit':
          await days?.beginQuick(begins, rows);
          return {
            ok: true,
            value: await publishEvent(store, session, {
              handle: input.handle,
              key: effect.key,
              name: effect.event,
              data: effect.data,
            }),
          };
        case 'shell':
        case 'sentinel':
        case 'watch':
        case 'turn':
          throw new Error(`bug: a "${effect.type}" step reached a segment`);
        default:
          return effect satisfies never;
      }
    },
  };
}

const unwatched: AroundStep = (_step, work) => work();

function contextOf(
  { store, runs }: Pick<QuickParts, 'store' | 'runs'>,
  { handle, project, persona, definitionHash }: RunInput,
  session: Session,
  { key, timeoutMs, confinement, reach }: Effect,
  secrets: Secrets,
): CommandContext {
  const of = {
    run: { handle, project, persona, definitionHash },
    key,
    store,
    session,
    runPort: runs,
    timeoutMs,
    secrets,
  };
  return quickContext(
    confinement === undefined && reach === undefined ? of : { ...of, ...defined({ confinement, reach }) },
  );
}

/** A quick step is never interrupted: it is shorter than the notice would be. */
const never = new AbortController().signal;
