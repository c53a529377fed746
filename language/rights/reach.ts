/** What of the protected an action may reach; absent: none, and a program that it brings may do all that the run may. */
export interface Reach {
  /** Protected files that the definition names. */
  files?: string[];
  /** Of a model: secrets, by name, that the definition puts into its prompt. */
  env?: string[];
  /** Of a model: what it may call. A program that it brings does no more. */
  tools?: string[];
  /** A step hands over what a model has drafted: what comes of it runs sandboxed. */
  isDraft?: true;
}
