/** Which run a path leads to: those of nested runs begin with the keys of the steps that started them. */
export function runAt(handle: string, path: string): { handle: string; path: string } {
  const words = path.split('/');
  const keys = words.filter((word) => word.includes('@'));
  const own = words.filter((word) => !word.includes('@')).join('/');
  return { handle: [handle, ...keys].join('/'), path: own };
}
