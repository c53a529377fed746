/** The genome: adapters that were trained here, the gate that makes layers of them, and what personas use of these. */
import { defineSystem } from '../../operations/system.ts';
import { composeCommands } from './compose.ts';
import { layerCommands } from './layers.ts';
import { registerCommands } from './register.ts';
import { Settings } from './settings.ts';
import { synthesize } from './synthesize.ts';
import { tables } from './tables.ts';
import { QUEUE, train } from './train.ts';
import { travelCommands } from './travel.ts';

/** Those that wait for the accelerator are no work: one of them trains. */
const waitingMax = 64;

export const genome = defineSystem({
  name: 'genome',
  summary: 'layers of local models: training, the gate, and what personas use',
  commands: [synthesize, train, ...registerCommands, ...layerCommands, ...composeCommands, ...travelCommands],
  settings: Settings,
  tables,
  queues: { [QUEUE]: { atOnce: waitingMax } },
  layers: { layer: 'genome/layer', genome: 'genome/of-persona' },
  verbs: {
    layers: { summary: 'list the layers of local models', command: 'genome/layer-list' },
    tag: { summary: 'give a layer a name', command: 'genome/tag', args: ['tag', 'layer'] },
    rollback: { summary: 'give a name back to the layer before', command: 'genome/rollback', args: ['tag'] },
    activate: {
      summary: 'say which layers a persona uses',
      command: 'genome/set-active',
      args: ['personaId', 'composition'],
    },
    export: { summary: 'write layers into a signed folder', command: 'genome/export', args: ['outputPath'] },
    import: { summary: 'take layers from a signed folder', command: 'genome/import', args: ['importPath'] },
    synthesize: {
      summary: 'have a model make rows of a data set',
      command: 'genome/dataset-synthesize',
      args: ['topic'],
    },
    train: { summary: 'train an adapter', command: 'genome/train', args: ['baseModel', 'outputAdapter', 'dataset'] },
    register: { summary: 'make an adapter a layer', command: 'genome/layer-register', args: ['adapterPath', 'domain'] },
  },
});
