/**
 * The files that definitions name by their paths (`"$ref": "./child.json"`): relative to the file that says it,
 * and inside the project, whatever links stand on the way. A file outside of the project stays in its own folder.
 */
import { closeSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { FileFault, NamedFile, RefFile, RefFiles } from '../../language/read/draft/mounts.ts';
import { DEFINITION_ENDINGS, formatOf, isDefinitionFile, otherThan } from '../../language/read/text/definition-text.ts';
import { openBeneath } from '../confinement/beneath.ts';
import { resolveInside, type Access } from '../confinement/confine.ts';
import { Failure } from '../failures/failures.ts';
import { textOfFile } from './text-of-file.ts';

/** `root`: of the project. */
export function refFiles(file: string, root: string | undefined, access: Access = {}): RefFiles {
  const self = namedFile(realOf(file));
  const within = boundOf(self.id, root);
  const read = new Map<string, RefFile | FileFault>();
  return {
    self,
    read(ref, from) {
      const wanted = fileAt(ref, from, { within, access });
      if (typeof wanted !== 'string') return wanted;
      const found = read.get(wanted) ?? readBeneath(within, ref, wanted);
      read.set(wanted, found);
      return found;
    },
  };
}

/** A file that is not there is told of by whoever reads it. */
function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}

function boundOf(file: string, root: string | undefined): string {
  const project = root === undefined ? undefined : realOf(root);
  return project === undefined || !isInside(project, file) ? dirname(file) : project;
}

function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

const namedFile = (id: string): NamedFile => ({ id, shown: relative('.', id) });

/** The real path of what a reference names, which need not be there. */
function fileAt(ref: string, from: string, { within, access }: { within: string; access: Access }): string | FileFault {
  const other = otherThan(ref);
  if (other !== null)
    return { code: 'BAD_FILE_REFERENCE', message: `"${ref}" is ${other}; name the file of a definition` };
  if (!isDefinitionFile(ref)) {
    const endings = DEFINITION_ENDINGS.join(', ');
    return {
      code: 'BAD_FILE_REFERENCE',
      message: `"${ref}" does not end as a definition does (${endings}); name the file with its ending, or a saved definition by its name alone`,
    };
  }
  try {
    return resolveInside(within, join(dirname(from), ref), access);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return faultOf(ref, from, { within, failure: error });
  }
}

function faultOf(ref: string, from: string, { within, failure }: { within: string; failure: Failure }): FileFault {
  const said = `"${ref}" in ${relative('.', from)}`;
  switch (failure.code) {
    case 'PATH_OUTSIDE_PROJECT':
      return {
        code: 'PATH_OUTSIDE_PROJECT',
        message: `${said} leads out of ${within}, by its parts or by a link; keep the file inside the project (--project says where that is)`,
      };
    case 'PATH_PROTECTED':
      return {
        code: 'BAD_FILE_REFERENCE',
        message: `${said} is a protected file, which no definition reads; keep definitions elsewhere`,
      };
    default:
      return { code: 'FILE_NOT_READABLE', message: `${said} cannot be read; check the path and its permissions` };
  }
}

/** The file that was looked at, through its descriptor: a process may put a link in its place meanwhile. */
function readBeneath(within: string, ref: string, file: string): RefFile | FileFault {
  if (process.platform !== 'linux') return readFile(ref, file, file);
  const opened = openBeneath(within, file);
  if (opened === null)
    return { code: 'FILE_NOT_READABLE', message: `"${ref}": ${namedFile(file).shown} does not exist; check the path` };
  try {
    return readFile(ref, file, `/proc/self/fd/${opened}`);
  } finally {
    closeSync(opened);
  }
}

/** `place`: where it is read. */
function readFile(ref: string, file: string, place: string): RefFile | FileFault {
  const { shown, id } = namedFile(file);
  if (statSync(place, { throwIfNoEntry: false })?.isFile() === false)
    return { code: 'FILE_NOT_READABLE', message: `"${ref}": ${shown} is no file; give the path of a definition` };
  const read = textOfFile(place);
  if ('problem' in read)
    return { code: read.problem.code, message: `"${ref}": ${read.problem.message.replace(place, () => shown)}` };
  return { id, shown, text: read.text, format: formatOf(file) };
}
