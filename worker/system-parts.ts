/** What a worker has of the systems of its project that can be used. */
import type { PerformedTask } from './background/background-tasks.ts';
import type { FollowedEvent } from './background/followers.ts';
import type { KnownLayers } from './layers.ts';
import type { ProjectParts } from './project-parts.ts';

export const followersOf = (systems: ProjectParts['systems']): FollowedEvent[] =>
  systems
    .filter(({ problem }) => problem === null)
    .flatMap(({ system: { name: system, followers } }) =>
      Object.entries(followers).map(([follower, { event, command }]) => ({ system, follower, event, command })),
    );

export const layersOf = (systems: ProjectParts['systems']): KnownLayers[] =>
  systems
    .filter(({ problem }) => problem === null)
    .flatMap(({ system: { name: system, layers } }) => (layers === undefined ? [] : [{ system, ...layers }]));

export const tasksOf = (systems: ProjectParts['systems']): PerformedTask[] =>
  systems
    .filter(({ problem }) => problem === null)
    .flatMap(({ system: { name: system, background } }) =>
      Object.entries(background).map(([task, { everyMs, command }]) => ({ system, task, everyMs, command })),
    );
