/** The services could not be started, changed over or stopped, or are not up; the message says why and what to do. */
export class ServicesError extends Error {
  override readonly name = 'ServicesError';
}
