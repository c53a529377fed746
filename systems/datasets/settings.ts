/** What a project's configuration says of its data sets. */
import * as z from 'zod';
import { foldersSetting } from '../../operations/files/outside-folders.ts';
import type { Context } from '../../operations/command.ts';

export const Settings = z.strictObject({ folders: foldersSetting('data sets') });

export const foldersOf = ({ settings }: Context): string[] => Settings.parse(settings ?? {}).folders;
