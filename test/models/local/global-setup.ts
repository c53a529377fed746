/** The small real models for the tests of this folder: one that answers, and one that makes vectors. */
import type { TestProject } from 'vitest/node';
import { embeddingModel } from './embedding-model.ts';
import { smallModel, type SmallModel } from './small-model.ts';

declare module 'vitest' {
  interface ProvidedContext {
    smallModel: SmallModel;
    embeddingModel: SmallModel;
  }
}

export default async function setUp({ provide }: TestProject): Promise<void> {
  provide('smallModel', await smallModel());
  provide('embeddingModel', await embeddingModel());
}
