/** Who answers a turn: models, or what a cassette holds of them. */
import type { Models } from '../../../world/models/open-models.ts';
import type { RecordedModel } from '../../../world/models/cassette/request-form.ts';
import type { TurnOptions, TurnRequest, TurnResult } from '../../../world/models/port/turn.ts';
import type { AskedAt } from '../../../world/models/resolve/resolve-model.ts';
import type { Needs } from '../../../world/models/resolve/route.ts';

export type AnsweringModel = RecordedModel;

export type ModelRequest = Omit<TurnRequest, 'model' | 'adapters'>;

/** A model that was found, and a way to ask it. */
export interface Found {
  model: AnsweringModel;
  /** One request. Rejects only with the signal's reason, or with a `Failure` that ends the step. */
  turn(request: ModelRequest, options: TurnOptions): Promise<TurnResult>;
}

export interface Answerers {
  /** The model that a step's text means. Rejects as `Models.resolve` does. */
  find(asked: string, needs: Needs, at: AskedAt): Promise<Found>;
}

export function liveModels(models: Pick<Models, 'resolve' | 'turn'>): Answerers {
  return {
    async find(asked, needs, at) {
      const resolved = await models.resolve(asked, needs, at);
      const { name, provider, model, facts, reason, notices } = resolved;
      return {
        model: { name, provider: provider.provider.name, model, facts, reason, notices },
        turn: (request, options) => models.turn(resolved, request, options),
      };
    },
  };
}
