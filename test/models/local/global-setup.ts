/** The small real model for the tests of this folder. */
import type { TestProject } from 'vitest/node';
import { smallModel, type SmallModel } from './small-model.ts';

declare module 'vitest' {
  interface ProvidedContext {
    smallModel: SmallModel;
  }
}

export default async function setUp({ provide }: TestProject): Promise<void> {
  provide('smallModel', await smallModel());
}
