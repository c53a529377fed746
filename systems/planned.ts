/** Commands that are part of the format and not built yet; one that is built leaves this list. */
import type { Catalogue, CommandEntry, Permission } from '../language/catalogue.ts';

const planned = (permission: Permission): CommandEntry => ({ permission, speed: 'long', planned: true });

export const PLANNED: Catalogue = {
  'genome/train': planned('write'),
  'genome/layer-register': planned('write'),
  'genome/paging-adapter-register': planned('write'),
  'genome/layer-list': planned('read'),
  'genome/compose': planned('write'),
  'genome/set-active': planned('write'),
  'genome/export': planned('write'),
  'genome/import': planned('write'),
  'genome/dataset-synthesize': planned('write'),
  'genome/train-voice': planned('write'),
  'genome/train-image': planned('write'),
};
