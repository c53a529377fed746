/** Every system that comes with the engine: the one list of them, a line each. */
export { chat } from './chat/system.ts';
export { code } from './code/system.ts';
export { cycle } from './cycle/system.ts';
export { data } from './data/system.ts';
export { datasets } from './datasets/system.ts';
export { genome } from './genome/system.ts';
export { git } from './git/system.ts';
export { health } from './health/system.ts';
export { inbox } from './inbox/system.ts';
export { memory } from './memory/system.ts';
export { models } from './models/system.ts';
export { pages } from './pages/system.ts';
export { persona } from './persona/system.ts';
export { runs } from './runs/system.ts';
export { saved } from './saved/system.ts';
export { shell } from './shell/system.ts';
export { workspaces } from './workspaces/system.ts';
