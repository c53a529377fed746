/** Commands that are part of the format and not built yet; one that is built leaves this list. */
import type { Catalogue, CommandEntry, Permission } from '../language/catalogue.ts';

const planned = (permission: Permission): CommandEntry => ({ permission, speed: 'long', planned: true });

export const PLANNED: Catalogue = {
  'genome/train-voice': planned('write'),
  'genome/train-image': planned('write'),
};
