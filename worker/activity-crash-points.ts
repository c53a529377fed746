/** The points of a step that all of them pass: taken from Temporal, ended, told (world/crash-points/). */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { handleOf } from '../interpreter/keys.ts';
import { crashPoint, crashPointSoon } from '../world/crash-points/crash-point.ts';

export const activityCrashPoints: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    async execute(input, next) {
      const at = { handle: handleOf(info.workflowExecution?.workflowId ?? ''), key: info.activityId };
      crashPoint('activity.begun', at);
      try {
        return await next(input);
      } finally {
        crashPoint('activity.returned', at);
        crashPointSoon('activity.told', at);
      }
    },
  },
});
